#!/usr/bin/env node
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The linker that rustc calls: LLVM bitcode in, an SBPF v3 program for Solana out. rustc has merged everything into one
 * module (`lto = "fat"`). llc makes one BPF object of it, and `linkProgram` copies its code and constants into the two
 * segments that Solana's loader takes. Nothing is left to be relocated when the program is loaded: syscalls are calls to
 * fixed numbers, and every address is known here (SIMD-0178, SIMD-0189, SIMD-0377).
 */

/** No 32-bit arithmetic (mcpu v2): LLVM expects it to clear the upper half, and Solana's add32, sub32 and mul32 do not. */
const llcFlags =
	"-march=bpf -mcpu=v2 -mattr=+allows-misaligned-mem-access -bpf-stack-size=4096 -O2 -filetype=obj";
const codeStart = 0x1_0000_0000n;
/** Constants start at address 0. Nothing may be there: Rust takes address 0 for "no reference". */
const constantsStart = 16;
const relocation = { wide: 1, absolute: 2, call: 10 } as const;
const sectionType = { data: 1, symbols: 2, relocations: 9 } as const;
const sectionFlag = { writable: 1, loaded: 2, code: 4 } as const;

if (process.argv[1] === import.meta.filename) run(process.argv.slice(2));

function run(args: readonly string[]): void {
	const output = args[args.indexOf("-o") + 1];
	const [module, ...others] = args.filter((arg) => arg.endsWith(".o"));
	if (!output || !module || others.length > 0) {
		throw new Error(`expected one module, built with lto = "fat": ${[module, ...others].join(" ")}`);
	}
	const folder = mkdtempSync(join(tmpdir(), "sbpf-"));
	try {
		const object = join(folder, "program.o");
		execFileSync("llc-22", [...llcFlags.split(" "), module, "-o", object], { stdio: "inherit" });
		writeFileSync(output, linkProgram(readFileSync(object)));
	} finally {
		rmSync(folder, { recursive: true });
	}
}

type Segment = "code" | "constants";
type Section = {
	name: string;
	type: number;
	flags: number;
	offset: number;
	size: number;
	link: number;
	info: number;
	align: number;
	/** The section's place in the program; undefined if it is not loaded. */
	placed?: { segment: Segment; offset: number };
};
type Symbol = { name: string; section: number; value: number };

/** Returns a program for Solana with the code and constants of a BPF object. Throws if Solana cannot run it. */
export function linkProgram(elf: Buffer): Buffer {
	const { sections, symbols } = readObject(elf);
	const { code, constants } = placeSections(elf, sections);
	const addressOf = ({ name, section, value }: Symbol, addend: number): bigint => {
		const placed = section === 0 ? undefined : sections[section]?.placed;
		if (!placed) throw new Error(`${name || "a symbol"} is not in this program`);
		return (placed.segment === "code" ? codeStart : 0n) + BigInt(placed.offset + value + addend);
	};

	for (const { type, info, offset, size } of sections) {
		const placed = type === sectionType.relocations ? sections[info]?.placed : undefined;
		// The others are about debug information.
		if (!placed) continue;
		const bytes = placed.segment === "code" ? code : constants;
		for (let i = offset; i < offset + size; i += 16) {
			const at = placed.offset + Number(elf.readBigUInt64LE(i));
			const [kind, target] = [elf.readUInt32LE(i + 8), symbols[elf.readUInt32LE(i + 12)]];
			if (!target) throw new Error("a relocation names no symbol");
			if (kind === relocation.wide) {
				const address = addressOf(target, bytes.readUInt32LE(at + 4));
				bytes.writeUInt32LE(Number(address & 0xffff_ffffn), at + 4);
				bytes.writeUInt32LE(Number(address >> 32n), at + 12);
			} else if (kind === relocation.absolute) {
				bytes.writeBigUInt64LE(addressOf(target, Number(bytes.readBigUInt64LE(at))), at);
			} else if (kind === relocation.call) {
				// The object has the distance from the start of the target's section, in instructions, less one.
				const to = addressOf(target, (bytes.readInt32LE(at + 4) + 1) * 8);
				bytes.writeInt32LE(Number(to - codeStart - BigInt(at)) / 8 - 1, at + 4);
			} else throw new Error(`relocation ${kind} of ${target.name} is not known`);
		}
	}
	expectKnownInstructions(code);
	const entry = symbols.find(({ name }) => name === "entrypoint");
	if (!entry) throw new Error("the program has no entrypoint");
	return Buffer.concat([headerOf({ code, constants, entry: addressOf(entry, 0) }), constants, code]);
}

function readObject(elf: Buffer): { sections: Section[]; symbols: Symbol[] } {
	const number = (at: number) => Number(elf.readBigUInt64LE(at));
	const text = (at: number) => elf.toString("latin1", at, elf.indexOf(0, at));
	const start = number(40);
	const count = elf.readUInt16LE(60);
	const names = number(start + elf.readUInt16LE(62) * 64 + 24);
	const sections = Array.from({ length: count }, (_, i): Section => {
		const at = start + i * 64;
		return {
			name: text(names + elf.readUInt32LE(at)),
			type: elf.readUInt32LE(at + 4),
			flags: number(at + 8),
			offset: number(at + 24),
			size: number(at + 32),
			link: elf.readUInt32LE(at + 40),
			info: elf.readUInt32LE(at + 44),
			align: number(at + 48),
		};
	});
	const table = sections.find(({ type }) => type === sectionType.symbols);
	const symbolNames = table && sections[table.link]?.offset;
	if (!table || symbolNames === undefined) throw new Error("the object has no symbols");
	const symbols = Array.from({ length: table.size / 24 }, (_, i): Symbol => {
		const at = table.offset + i * 24;
		return {
			name: text(symbolNames + elf.readUInt32LE(at)),
			section: elf.readUInt16LE(at + 6),
			value: number(at + 8),
		};
	});
	return { sections, symbols };
}

/** Gives each section that is loaded its place, and returns the bytes of both segments. */
function placeSections(elf: Buffer, sections: readonly Section[]): Record<Segment, Buffer> {
	const parts: Record<Segment, Buffer[]> = { code: [], constants: [Buffer.alloc(constantsStart)] };
	const length: Record<Segment, number> = { code: 0, constants: constantsStart };
	for (const section of sections) {
		const { name, flags, type, size, offset, align } = section;
		if (!(flags & sectionFlag.loaded) || size === 0) continue;
		if (flags & sectionFlag.writable || type !== sectionType.data) {
			throw new Error(`${name} is writable, and a program has no memory of its own`);
		}
		const segment = flags & sectionFlag.code ? "code" : "constants";
		const padding = -length[segment] & (Math.max(8, align) - 1);
		section.placed = { segment, offset: length[segment] + padding };
		parts[segment].push(Buffer.alloc(padding), elf.subarray(offset, offset + size));
		length[segment] += padding + size;
	}
	const whole = (segment: Segment) => Buffer.concat([...parts[segment], Buffer.alloc(-length[segment] & 7)]);
	return { code: whole("code"), constants: whole("constants") };
}

function headerOf({ code, constants, entry }: Record<Segment, Buffer> & { entry: bigint }): Buffer {
	const header = Buffer.alloc(64 + 2 * 56);
	header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
	// The type of shared objects, the machine BPF, and the version of ELF.
	header.writeUInt16LE(3, 16);
	header.writeUInt16LE(247, 18);
	header.writeUInt32LE(1, 20);
	header.writeBigUInt64LE(entry, 24);
	header.writeBigUInt64LE(64n, 32);
	// The version of SBPF.
	header.writeUInt32LE(3, 48);
	for (const [i, value] of [64, 56, 2, 64].entries()) header.writeUInt16LE(value, 52 + i * 2);
	const segment = (at: number, flags: number, { offset, address, size }: Record<string, number | bigint>) => {
		header.writeUInt32LE(1, at);
		header.writeUInt32LE(flags, at + 4);
		for (const [i, value] of [offset, address, address, size, size, 8].entries()) {
			header.writeBigUInt64LE(BigInt(value ?? 0), at + 8 + i * 8);
		}
	};
	segment(64, 4, { offset: header.length, address: 0, size: constants.length });
	segment(64 + 56, 1, {
		offset: header.length + constants.length,
		address: codeStart,
		size: code.length,
	});
	return header;
}

/** Throws if the code has an instruction that Solana lacks, or that means something else there. */
export function expectKnownInstructions(code: Buffer): void {
	for (let at = 0; at < code.length; at += 8) {
		const opcode = code.readUInt8(at);
		const kind = opcode & 7;
		const isByteSwap = opcode === 0xd4 || opcode === 0xdc;
		const is32Bit = (kind === 4 || kind === 6) && !isByteSwap;
		const isAtomic = kind === 3 && opcode >> 5 === 6;
		const isSigned = (kind === 4 || kind === 7) && code.readInt16LE(at + 2) !== 0;
		if (is32Bit || isAtomic || isSigned) {
			throw new Error(
				`instruction ${at / 8} has the opcode 0x${opcode.toString(16)}, which Solana runs differently`,
			);
		}
		// The instruction that loads 64 bits takes two places.
		if (opcode === 0x18) at += 8;
	}
}
