import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { HoldLoad, Load, LoadResult } from "./load-process.ts";

/** Runs one load in a process of its own: what it costs to make is not what is measured. */
export async function runLoad<Kind extends Exclude<Load["kind"], "hold">>(
	load: Extract<Load, { kind: Kind }>,
): Promise<LoadResult[Kind]> {
	const { answer, end } = await start(load);
	await end();
	return answer as LoadResult[Kind];
}

/** Holds requests open until released. */
export async function holdRequests(load: HoldLoad): Promise<{ release: () => Promise<void> }> {
	const { end } = await start(load);
	return { release: end };
}

async function start(load: Load): Promise<{ answer: unknown; end: () => Promise<void> }> {
	const child = fork(join(import.meta.dirname, "load-process.ts"));
	const exited = once(child, "exit");
	child.send(load);
	const [answer] = await Promise.race([
		once(child, "message"),
		exited.then(([code]) => {
			throw new Error(`the load ${load.kind} ended with code ${code}`);
		}),
	]);
	return {
		answer,
		end: async () => {
			child.kill();
			await exited;
		},
	};
}
