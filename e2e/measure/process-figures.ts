import { readdirSync, readFileSync, writeFileSync } from "node:fs";

export function openFiles(pid: number): number {
	return readdirSync(`/proc/${pid}/fd`).length;
}

export function residentBytes(pid: number): number {
	return statusBytes(pid, "VmRSS");
}

/** Returns the peak of resident memory since the process began, or since `forgetPeak`. */
export function peakResidentBytes(pid: number): number {
	return statusBytes(pid, "VmHWM");
}

export function forgetPeak(pid: number): void {
	// Writing 5 resets the peak (see proc(5)).
	writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function statusBytes(pid: number, name: "VmRSS" | "VmHWM"): number {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	const [, kib = "0"] = new RegExp(`${name}:\\s+(\\d+) kB`).exec(status) ?? [];
	return Number(kib) * 1_024;
}

/** Returns the number of open connections to a port of this machine, on the server's side. */
export function connectionsTo(port: number): number {
	const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
	// The second field is the server's own address; 01 in the fourth means established.
	const isOpen = new RegExp(`^\\s*\\d+: [0-9A-F]+:${hexPort} [0-9A-F]+:[0-9A-F]{4} 01 `);
	return ["tcp", "tcp6"]
		.flatMap((kind) => readFileSync(`/proc/net/${kind}`, "utf8").split("\n"))
		.filter((line) => isOpen.test(line)).length;
}

/** The unit in which Linux counts a process's time, the same on every machine. */
const ticksPerSecond = 100;

/** Returns the processor time that a process has used, the kernel's share included. */
export function processorMs(pid: number): number {
	return parseProcess(readFileSync(`/proc/${pid}/stat`, "utf8")).ownMs;
}

/** Reads the text of `/proc/PID/stat`. */
export function parseProcess(stat: string): { parentPid: number; ownMs: number; endedChildrenMs: number } {
	// The program's name may contain anything, spaces and brackets included.
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const sumMs = (...at: number[]) =>
		at.reduce((sum, i) => sum + (Number(fields[i]) * 1_000) / ticksPerSecond, 0);
	return { parentPid: Number(fields[1]), ownMs: sumMs(11, 12), endedChildrenMs: sumMs(13, 14) };
}
