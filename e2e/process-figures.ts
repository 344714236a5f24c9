import { readdirSync, readFileSync } from "node:fs";

export function openFiles(pid: number): number {
	return readdirSync(`/proc/${pid}/fd`).length;
}

export function residentBytes(pid: number): number {
	const [, kib = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
	return Number(kib) * 1_024;
}

/** What Linux counts a process's time in, on every machine. */
const ticksPerSecond = 100;

/** The time of processors that a process has used, its kernel's share included. */
export function processorMs(pid: number): number {
	const text = readFileSync(`/proc/${pid}/stat`, "utf8");
	// The name of the program may hold anything, spaces and brackets included.
	const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
	return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}
