import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import type { connectDatabase } from "../environment/connect-database.ts";

export type FollowedBlock = { number: number; madeAt: number; delayMs: number };

const lookMs = 50;

/**
 * Measures how long after a block is made the worker has processed it, for each block that is made until it is stopped.
 */
export function watchFollowing(
	{ chainId, publicClient }: TestChain,
	database: Awaited<ReturnType<typeof connectDatabase>>,
): { blocks: FollowedBlock[]; stop: () => Promise<void> } {
	const blocks: FollowedBlock[] = [];
	const made = new Map<number, number>();
	let isOver = false;
	let last: number | undefined;
	const done = watch();
	return {
		blocks,
		stop: async () => {
			isOver = true;
			await done;
		},
	};

	async function watch(): Promise<void> {
		while (!isOver) {
			const [head, [row]] = await Promise.all([
				publicClient.getBlockNumber(),
				database.query<{ number: string }>("select number from chain_heads where chain_id = $1", [chainId]),
			]);
			const now = Date.now();
			const newest = Number(head);
			for (let number = (last ?? newest) + 1; number <= newest; number++) made.set(number, now);
			last = newest;
			for (const [number, madeAt] of made) {
				if (number > Number(row?.number ?? 0)) continue;
				blocks.push({ number, madeAt, delayMs: now - madeAt });
				made.delete(number);
			}
			await sleep(lookMs);
		}
	}
}
