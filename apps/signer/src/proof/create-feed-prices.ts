import { type Deployment, isSolana, rescaleDown, toSolanaWord, toWord } from "@geoswap/protocol";
import { type Address, type Hex, parseAbi } from "viem";
import type { EvmNode } from "../read/evm-node.ts";

const feedAbi = parseAbi([
	"function decimals() view returns (uint8)",
	"function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);

/** An amount of an asset, whose token is the word that orders hold. */
type PricedAmount = { chainId: bigint; token: Hex; amount: bigint };

/** Returns an amount's value in USD with 18 decimals; undefined if no feed prices it here. */
export type WorthE18 = (asset: PricedAmount) => Promise<bigint | undefined>;

/** How long a price is reused. */
const maxAgeMs = 10_000;
/** A feed may be late by this share of its heartbeat before it counts as silent. */
const heartbeatTolerance = 1.5;

type Feed = { chain: EvmNode; address: Address; heartbeatSeconds: number; decimals: number };

/** Creates prices that are read from the deployment's feeds, on the signer's own nodes. */
export function createFeedPrices({
	deployment,
	chains,
	nowMs,
}: {
	deployment: Deployment;
	chains: ReadonlyMap<number, EvmNode>;
	nowMs: () => number;
}): WorthE18 {
	const known = new Map<string, { atMs: number; usdE18: Promise<bigint | undefined> }>();

	async function readPrice({ chain, address, heartbeatSeconds }: Feed): Promise<bigint | undefined> {
		const [decimals, [, answer, , updatedAt]] = await Promise.all([
			chain.client.readContract({ abi: feedAbi, address, functionName: "decimals" }),
			chain.client.readContract({ abi: feedAbi, address, functionName: "latestRoundData" }),
		]);
		const ageSeconds = nowMs() / 1_000 - Number(updatedAt);
		if (answer <= 0n || ageSeconds > heartbeatTolerance * heartbeatSeconds) return undefined;
		return rescaleDown(answer, decimals, 18);
	}

	function priceOf(feed: Feed): Promise<bigint | undefined> {
		const key = `${feed.chain.chainId}/${feed.address}`;
		const last = known.get(key);
		if (last && nowMs() - last.atMs < maxAgeMs) return last.usdE18;
		const usdE18 = readPrice(feed);
		known.set(key, { atMs: nowMs(), usdE18 });
		usdE18.catch(() => known.delete(key));
		return usdE18;
	}

	return async ({ chainId, token, amount }) => {
		const feed = feedOf(deployment, chains, { chainId, token });
		if (!feed) return undefined;
		const usdE18 = await priceOf(feed);
		return usdE18 === undefined ? undefined : (amount * usdE18) / 10n ** BigInt(feed.decimals);
	};
}

function feedOf(
	{ chains: deployed, solana }: Deployment,
	chains: ReadonlyMap<number, EvmNode>,
	{ chainId, token }: Pick<PricedAmount, "chainId" | "token">,
): Feed | undefined {
	const word = token.toLowerCase();
	if (isSolana(chainId)) {
		const asset = solana?.assets.find(({ address }) => toSolanaWord(address) === word);
		const chain = asset && chains.get(asset.feed.chainId);
		return chain && { ...asset.feed, chain, decimals: asset.decimals };
	}
	const chain = chains.get(Number(chainId));
	const asset = deployed
		.find((one) => BigInt(one.chainId) === chainId)
		?.assets.find(({ address }) => toWord(address) === word);
	return chain && asset?.feed && { ...asset.feed, chain, decimals: asset.decimals };
}
