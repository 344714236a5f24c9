import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "@geoswap/devnet";

/** Kills each of them so many times, one after the other, and starts it again: each round once it is due. */
export async function killInTurn(
	processes: readonly ServiceProcess[],
	{ times, isDue }: { times: number; isDue: (round: number) => boolean },
): Promise<void> {
	for (let round = 0; round < times; round++) {
		while (!isDue(round)) await sleep(100);
		for (const [i, process] of processes.entries()) {
			// Of different lengths, so that the next one dies at another point of what the others do.
			const outageMs = 200 + 150 * ((round + i) % 5);
			process.kill("SIGKILL");
			await process.exited();
			await sleep(outageMs);
			await process.start();
			await sleep(outageMs);
		}
	}
}
