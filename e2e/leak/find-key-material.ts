import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { getBase58Decoder } from "@solana/kit";

/** A private key by the name under which it is reported. */
export type SecretKey = { name: string; bytes: Uint8Array };

/** Returns each spelling of a key in which a process could hold it. */
function spellingsOf({ bytes }: SecretKey): Buffer[] {
	const key = Buffer.from(bytes);
	const hex = key.toString("hex");
	return [
		key,
		...[hex, hex.toUpperCase(), key.toString("base64").replace(/=+$/, ""), key.toString("base64url")].map(
			(text) => Buffer.from(text),
		),
		Buffer.from(getBase58Decoder().decode(key)),
		Buffer.from([...key].join(",")),
	];
}

/** Returns which keys are in these bytes. */
function findKeyMaterial(keys: readonly SecretKey[], bytes: Buffer): string[] {
	return keys.filter((key) => spellingsOf(key).some((text) => bytes.includes(text))).map(({ name }) => name);
}

/** Returns which keys are in a process's environment, in its command line, and in those of its children. */
export function findInProcess(keys: readonly SecretKey[], pid: number): string[] {
	const found = ["environ", "cmdline"].flatMap((file) =>
		findKeyMaterial(keys, readFileSync(`/proc/${pid}/${file}`)).map((name) => `${name} in ${file} of ${pid}`),
	);
	return [...found, ...childrenOf(pid).flatMap((child) => findInProcess(keys, child))];
}

/** Returns the processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
	return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
		readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
			.split(" ")
			.filter((child) => child !== "")
			.map(Number),
	);
}

/**
 * Returns which keys are anywhere in the memory of a process. A heap snapshot has strings, but not the content of
 * buffers, which is where a key would be.
 */
export async function findInMemory(keys: readonly SecretKey[], pid: number): Promise<string[]> {
	// Each further spelling takes seconds for each process.
	const patterns = keys.flatMap(({ name, bytes }) => {
		const key = Buffer.from(bytes);
		const texts = [key.toString("hex"), getBase58Decoder().decode(key)];
		return [key, ...texts.map((text) => Buffer.from(text))].map((text) => ({ name, text }));
	});
	const found = new Set<string>();
	const memory = await open(`/proc/${pid}/mem`, "r");
	try {
		for (const [, from = "", to = ""] of readFileSync(`/proc/${pid}/maps`, "utf8").matchAll(writable)) {
			const [start, end] = [BigInt(`0x${from}`), BigInt(`0x${to}`)];
			for (let at = start; at < end; at += BigInt(stepBytes - overlapBytes)) {
				const wanted = Number(end - at < BigInt(stepBytes) ? end - at : BigInt(stepBytes));
				const buffer = Buffer.alloc(wanted);
				const read = await memory.read(buffer, 0, wanted, at).catch(() => undefined);
				if (!read) continue;
				const bytes = buffer.subarray(0, read.bytesRead);
				for (const { name, text } of patterns) if (!found.has(name) && bytes.includes(text)) found.add(name);
			}
		}
	} finally {
		await memory.close();
	}
	return [...found].map((name) => `${name} in the memory of ${pid}`);
}

/** The parts of a process's memory that it can write to. */
const writable = /^([0-9a-f]+)-([0-9a-f]+) rw/gm;
const stepBytes = 16 * 1024 * 1024;
/** Long enough that no spelling is cut in two. */
const overlapBytes = 64;

/** Returns which keys are in the files of a folder. */
export function findInFolder(keys: readonly SecretKey[], folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true })
		.filter((file: Dirent) => file.isFile())
		.flatMap(({ name: file }) =>
			findKeyMaterial(keys, readFileSync(join(folder, file))).map((name) => `${name} in ${file}`),
		);
}
