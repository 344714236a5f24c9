import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, encodeFunctionData } from "viem";
import { callMany } from "./call-many.ts";
import { devFeedAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { deriveDevnetKeys } from "./devnet-keys.ts";

/** What a feed last said, and how long ago by the chain's clock. */
export type FeedReading = {
	feed: Address;
	answer: bigint;
	ageSeconds: number;
	heartbeatSeconds: number;
};

export async function readFeeds(
	{ publicClient }: DevnetChain,
	{ assets }: ChainDeployment,
): Promise<FeedReading[]> {
	const heartbeats = new Map(assets.map(({ feed }) => [feed.address, feed.heartbeatSeconds]));
	const { timestamp, number: blockNumber } = await publicClient.getBlock();
	return Promise.all(
		[...heartbeats].map(async ([feed, heartbeatSeconds]) => {
			const [, answer, , updatedAt] = await publicClient.readContract({
				address: feed,
				abi: devFeedAbi,
				functionName: "latestRoundData",
				blockNumber,
			});
			return { feed, answer, ageSeconds: Number(timestamp - updatedAt), heartbeatSeconds };
		}),
	);
}

/** Posts each feed's own last answer again. The chain does it, so a price moved at the same time is never undone. */
export async function refreshFeeds(chain: DevnetChain, { assets }: ChainDeployment): Promise<void> {
	const feeds = new Set(assets.map(({ feed }) => feed.address));
	const data = encodeFunctionData({ abi: devFeedAbi, functionName: "refresh" });
	await callMany(
		chain,
		deriveDevnetKeys().actors.feedKeeper,
		[...feeds].map((to) => ({ to, data })),
	);
}
