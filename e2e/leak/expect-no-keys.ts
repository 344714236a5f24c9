import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceProcess } from "@geoswap/devnet";
import { expect } from "vitest";
import { findInFolder, findInMemory, findInProcess, type SecretKey } from "./find-key-material.ts";

/** Returns the variables with which a process writes all that is on its heap into the folder, on SIGUSR2. */
export function dumpingInto(folder: string): Record<string, string> {
	return { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}` };
}

/**
 * Expects no key in the environment, command line and memory of any of the processes, in the heap snapshots of those
 * that write one, or in the logs.
 */
export async function expectNoKeys(
	secrets: readonly SecretKey[],
	{
		dumping,
		others = [],
		dumps,
		logDir,
	}: {
		/** Processes with the variables of `dumpingInto`. */
		dumping: readonly ServiceProcess[];
		others?: readonly ServiceProcess[];
		dumps: string;
		logDir: string;
	},
): Promise<void> {
	// The search finds keys where there are some, because this process has them all.
	const own = secrets.map(({ name }) => `${name} in the memory of ${process.pid}`);
	expect((await findInMemory(secrets, process.pid)).toSorted()).toEqual(own.toSorted());
	for (const service of [...dumping, ...others]) {
		const pid = pidOf(service);
		expect(findInProcess(secrets, pid)).toEqual([]);
		expect(await findInMemory(secrets, pid)).toEqual([]);
	}
	for (const service of dumping) process.kill(pidOf(service), "SIGUSR2");
	await expect.poll(() => writtenDumps(dumps).length, { timeout: 120_000 }).toBe(dumping.length);
	expect(findInFolder(secrets, dumps)).toEqual([]);
	expect(findInFolder(secrets, logDir)).toEqual([]);
}

function pidOf({ name, pid }: ServiceProcess): number {
	if (pid === undefined) throw new Error(`${name} does not run`);
	return pid;
}

/** Returns the dumps that are complete. Their last character closes the JSON. */
function writtenDumps(folder: string): string[] {
	return readdirSync(folder).filter((file) =>
		readFileSync(join(folder, file), "latin1").trimEnd().endsWith("}"),
	);
}
