import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { HoldLoad, Load, LoadResult, PollLoad } from "./load-process.ts";
import type { PollResult } from "./poll-all.ts";

/** Runs one load in a process of its own: what it costs to make is not what is measured. */
export async function runLoad<Kind extends Exclude<Load["kind"], "hold" | "poll">>(
	load: Extract<Load, { kind: Kind }>,
): Promise<LoadResult[Kind]> {
	const { answer, kill } = start(load);
	const result = await answer;
	await kill();
	return result as LoadResult[Kind];
}

/** Holds requests open until released. */
export async function holdRequests(load: HoldLoad): Promise<{ release: () => Promise<void> }> {
	const { answer, kill } = start(load);
	await answer;
	return { release: kill };
}

/** Polls until ended. */
export function startPolling(load: PollLoad): { end: () => Promise<PollResult> } {
	const { child, answer, kill } = start(load);
	return {
		end: async () => {
			child.send("end");
			const result = await answer;
			await kill();
			return result as PollResult;
		},
	};
}

function start(load: Load): { child: ChildProcess; answer: Promise<unknown>; kill: () => Promise<void> } {
	const child = fork(join(import.meta.dirname, "load-process.ts"));
	const exited = once(child, "exit");
	child.send(load);
	const answer = Promise.race([
		once(child, "message").then(([result]) => result),
		exited.then(([code]) => {
			throw new Error(`the load ${load.kind} ended with code ${code}`);
		}),
	]);
	// Whoever waits for it hears of it; nobody may wait yet.
	answer.catch(() => {});
	return {
		child,
		answer,
		kill: async () => {
			child.kill();
			await exited;
		},
	};
}
