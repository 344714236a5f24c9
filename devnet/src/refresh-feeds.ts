import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, encodeFunctionData } from "viem";
import { callMany } from "./call-many.ts";
import { devFeedAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { deriveDevnetKeys } from "./devnet-keys.ts";
import { devnetSol } from "./devnet-tokens.ts";
import { hasSolFeed, solFeedAddress } from "./solana-feeds.ts";

/** A feed's last answer and its age by the chain's clock. */
export type FeedReading = {
	feed: Address;
	answer: bigint;
	ageSeconds: number;
	heartbeatSeconds: number;
};

export async function readFeeds(
	{ publicClient }: DevnetChain,
	deployment: ChainDeployment,
): Promise<FeedReading[]> {
	const { timestamp, number: blockNumber } = await publicClient.getBlock();
	return Promise.all(
		[...heartbeatsOf(deployment)].map(async ([feed, heartbeatSeconds]) => {
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

/** Posts each feed's own last answer again. The contract reads it, so a concurrent price move is never undone. */
export async function refreshFeeds(chain: DevnetChain, deployment: ChainDeployment): Promise<void> {
	const data = encodeFunctionData({ abi: devFeedAbi, functionName: "refresh" });
	await callMany(
		chain,
		deriveDevnetKeys().actors.feedKeeper,
		[...heartbeatsOf(deployment).keys()].map((to) => ({ to, data })),
	);
}

/** Returns the feeds of the chain's assets, and SOL's if it is on this chain. */
function heartbeatsOf(deployment: ChainDeployment): Map<Address, number> {
	const heartbeats = new Map(
		deployment.assets.flatMap(({ feed }) => (feed ? [[feed.address, feed.heartbeatSeconds]] : [])),
	);
	if (hasSolFeed(deployment)) heartbeats.set(solFeedAddress(), devnetSol.heartbeatSeconds);
	return heartbeats;
}
