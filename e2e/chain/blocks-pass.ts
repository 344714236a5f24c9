import type { TestChain } from "@geoswap/devnet";
import { expect } from "vitest";

/** Waits until the chain has `count` more blocks. */
export async function blocksPass({ publicClient }: TestChain, count: bigint): Promise<void> {
	const until = (await publicClient.getBlockNumber()) + count;
	await expect.poll(() => publicClient.getBlockNumber(), { timeout: 60_000 }).toBeGreaterThanOrEqual(until);
}
