import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@geoswap/devnet";

const answerWithinMs = 30_000;

/** Returns the Node.js options with which a program writes its memory use to that file. */
export function tellingMemory(file: string): string[] {
	const module = new URL("tell-memory.ts", import.meta.url);
	module.searchParams.set("file", file);
	return ["--import", module.href];
}

/**
 * Returns the memory that such a process needs after a garbage collection, which is its heap and the memory that
 * objects hold outside of the heap.
 */
export async function memoryInUse(service: ServiceProcess, file: string): Promise<number> {
	rmSync(file, { force: true });
	service.kill("SIGUSR2");
	for (const deadline = performance.now() + answerWithinMs; performance.now() < deadline; await sleep(20)) {
		const text = readIfThere(file);
		if (text === undefined) continue;
		const { heapUsed, external }: NodeJS.MemoryUsage = JSON.parse(text);
		return heapUsed + external;
	}
	throw new Error(`${service.name} did not report its memory`);
}

function readIfThere(file: string): string | undefined {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return undefined;
	}
}
