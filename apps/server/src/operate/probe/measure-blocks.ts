import type { Seconds } from "@geoswap/protocol";
import type { PublicClient } from "viem";
import type { Fact } from "./fact.ts";

/** Blocks over which the block time is averaged, because timestamps are whole seconds. */
const maxBlocks = 1_000n;

/** Measures the average time between blocks. */
export async function measureBlockSeconds(client: PublicClient): Promise<Fact<Seconds>> {
	const newest = await client.getBlock({ blockTag: "latest" });
	const blocks = newest.number < maxBlocks ? newest.number : maxBlocks;
	if (blocks === 0n) throw new Error("the chain has one block");
	const before = await client.getBlock({ blockNumber: newest.number - blocks });
	const value = Number(newest.timestamp - before.timestamp) / Number(blocks);
	return { value, how: `average over the newest ${blocks} blocks` };
}

/**
 * Measures how far the newest final block is behind the newest one. The distance moves in steps, so the bound may be
 * higher.
 */
export async function measureFinality(
	client: PublicClient,
): Promise<Fact<{ blocks: number; seconds: Seconds }>> {
	const [finalized, newest] = [
		await client.getBlock({ blockTag: "finalized" }),
		await client.getBlock({ blockTag: "latest" }),
	];
	return {
		value: {
			blocks: Number(newest.number - finalized.number),
			seconds: Number(newest.timestamp - finalized.timestamp),
		},
		how: "the block `latest` minus the block `finalized`, once",
	};
}
