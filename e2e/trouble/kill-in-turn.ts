import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@geoswap/devnet";

/** Kills and restarts each process in turn, `times` times. Each round begins when it is due. */
export async function killInTurn(
	processes: readonly ServiceProcess[],
	{ times, isDue }: { times: number; isDue: (round: number) => boolean },
): Promise<void> {
	for (let round = 0; round < times; round++) {
		while (!isDue(round)) await sleep(100);
		for (const [i, process] of processes.entries()) {
			// The outages differ in length, so that the next process dies at another point of the others' work.
			const outageMs = 200 + 150 * ((round + i) % 5);
			process.kill("SIGKILL");
			await process.exited();
			await sleep(outageMs);
			await process.start();
			await sleep(outageMs);
		}
	}
}
