import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { SwapsResult } from "./keep-pace.ts";
import type { BareSwapsLoad, HoldLoad, Load, PollLoad, SwapsLoad } from "./load.ts";
import type { LoadResult } from "./load-process.ts";
import type { PollResult } from "./poll-all.ts";

/** Runs one load in its own process, so that the cost of making it is not measured. */
export async function runLoad<Kind extends Exclude<Load["kind"], "hold" | "poll" | "swaps" | "bare-swaps">>(
	load: Extract<Load, { kind: Kind }>,
): Promise<LoadResult[Kind]> {
	const { answer, kill } = start(load);
	const result = await answer;
	await kill();
	return result as LoadResult[Kind];
}

/** Swaps that are prepared, and then submitted, each at the caller's request. */
export type PreparedSwaps = {
	prepare: () => Promise<void>;
	submit: () => Promise<SwapsResult>;
	/** Ends the process, whose costs can be read only while it runs. */
	end: () => Promise<void>;
};

/** Starts a load of swaps, and returns when its wallets have their tokens. */
export async function startSwaps(load: SwapsLoad | BareSwapsLoad): Promise<PreparedSwaps> {
	const { child, next, kill } = start(load);
	await next();
	return {
		prepare: async () => {
			const prepared = next();
			child.send("go on");
			await prepared;
		},
		submit: async () => {
			const result = next();
			child.send("go on");
			return (await result) as SwapsResult;
		},
		end: kill,
	};
}

/** Holds requests open until released. */
export async function holdRequests(load: HoldLoad): Promise<{ release: () => Promise<void> }> {
	const { answer, kill } = start(load);
	await answer;
	return { release: kill };
}

/** Polls until `end` is called. */
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

function start(load: Load): {
	child: ChildProcess;
	/** Resolves with the next message of the process. */
	next: () => Promise<unknown>;
	answer: Promise<unknown>;
	kill: () => Promise<void>;
} {
	const child = fork(join(import.meta.dirname, "load-process.ts"));
	const exited = once(child, "exit");
	child.send(load);
	const next = () =>
		Promise.race([
			once(child, "message").then(([said]) => said),
			exited.then(([code]) => {
				throw new Error(`the load ${load.kind} ended with code ${code}`);
			}),
		]);
	const answer = next();
	// The caller gets the error when it awaits the answer, which may be later.
	answer.catch(() => {});
	return {
		child,
		next,
		answer,
		kill: async () => {
			child.kill();
			await exited;
		},
	};
}
