import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expectKnownInstructions } from "../link.ts";
import { programFile } from "./scene.ts";

/** An instruction of eight bytes: opcode, registers, offset, number. */
function instruction(opcode: number, offset = 0): Buffer {
	const bytes = Buffer.alloc(8);
	bytes.writeUInt8(opcode, 0);
	bytes.writeInt16LE(offset, 2);
	return bytes;
}

test.for([
	["32-bit arithmetic, which Solana extends by its sign", instruction(0x04)],
	["a 32-bit jump", instruction(0x16)],
	["an atomic addition", instruction(0xdb)],
	["a signed division, which is marked in the offset", instruction(0x37, 1)],
] as const)("a program with %s is not linked", ([, code]) => {
	expect(() => expectKnownInstructions(code)).toThrow("which Solana runs differently");
});

test("64-bit arithmetic, byte swaps and wide loads are linked, and the second half of a load is no instruction", () => {
	const wide = Buffer.concat([instruction(0x18), instruction(0x04)]);
	for (const code of [instruction(0x07), instruction(0xdc), wide]) {
		expect(() => expectKnownInstructions(code)).not.toThrow();
	}
});

test("the program has the two segments of SBPF v3 and nothing else", () => {
	const program = readFileSync(programFile);
	expect(program.readUInt32LE(48)).toBe(3);
	expect(program.readUInt16LE(56)).toBe(2);
	const segments = [64, 64 + 56].map((at) => ({
		flags: program.readUInt32LE(at + 4),
		offset: Number(program.readBigUInt64LE(at + 8)),
		address: program.readBigUInt64LE(at + 16),
		size: Number(program.readBigUInt64LE(at + 32)),
	}));
	expect(segments).toMatchObject([
		{ flags: 4, address: 0n },
		{ flags: 1, address: 0x1_0000_0000n },
	]);
	const last = segments[1];
	expect((last?.offset ?? 0) + (last?.size ?? 0)).toBe(program.length);
});
