import {
	type Amount,
	greater,
	type Milliseconds,
	mulDivDown,
	type SolanaAssetDeployment,
	type SolanaDeployment,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Address } from "viem";
import type { FeedAnswer } from "../../chain/evm/read/read-block-prices.ts";
import { isFeedFresh } from "./is-feed-fresh.ts";
import type { LadderPricing } from "./ladder-pricing.ts";
import type { Pricing } from "./pricing.ts";
import { convertDown, type PricedToken } from "./usd-value.ts";

const bps = 10_000n;

/** The fee per signature in lamports; the cluster has never charged another. */
const signatureFee = 5_000n;
const slotSeconds = 0.4;

/** The desk's spread by kind of asset. */
export type SpreadBps = Record<SolanaAssetDeployment["kind"], number>;

/**
 * Prices assets by feeds alone, which are on other chains: the feed's price less a spread, at any size. The desk has to
 * limit the size, since no pool does.
 */
export function createFeedPricing({
	deployment,
	spreadBps,
	feedChains,
}: {
	deployment: SolanaDeployment;
	spreadBps: SpreadBps;
	/** The chains that the feeds are on. */
	feedChains: ReadonlyMap<number, Pick<LadderPricing, "newest" | "isReady" | "ageMs">>;
}): Pricing {
	const settlementToken = toSolanaWord(deployment.settlementToken);
	const assets = new Map<Address, SolanaAssetDeployment>(
		deployment.assets.map((asset) => [toSolanaWord(asset.address), asset]),
	);
	const sources = [...new Set(deployment.assets.map(sourceOf))];

	return {
		isReady: ({ nowMs }) => sources.every((source) => source.isReady({ nowMs })),
		ageMs: ({ nowMs }) => {
			const ages = sources.map((source) => source.ageMs({ nowMs }));
			return ages.every((age) => age !== undefined) ? Math.max(...ages) : undefined;
		},
		isLive: (asset, { nowMs }) => isReferenceLive(asset, nowMs) && isReferenceLive(settlementToken, nowMs),
		isReferenceLive: (asset, { nowMs }) => isReferenceLive(asset, nowMs),
		sell: ({ asset, amount }) =>
			asset === settlementToken ? amount : lessSpread(asset, { amount, from: asset, to: settlementToken }),
		buy: ({ asset, budget }) => ({
			output: lessSpread(asset, { amount: budget, from: settlementToken, to: asset }),
			fees: [],
		}),
		reference,
		feedUpdatedAtUnixSeconds: (address) => {
			const asset = assets.get(address);
			return asset && answerOf(asset)?.updatedAtUnixSeconds;
		},
		baseFee: () => signatureFee,
		blockSeconds: () => slotSeconds,
	};

	function sourceOf({ symbol, feed: { chainId } }: SolanaAssetDeployment) {
		const source = feedChains.get(chainId);
		if (!source) throw new RangeError(`the feed of ${symbol} is on chain ${chainId}, which has no prices`);
		return source;
	}

	function isReferenceLive(address: Address, nowMs: Milliseconds): boolean {
		const asset = assets.get(address);
		if (!asset) return false;
		const source = sourceOf(asset);
		const block = source.newest();
		if (!block || !source.isReady({ nowMs })) return false;
		const { heartbeatSeconds } = asset.feed;
		return isFeedFresh(answerOf(asset), { heartbeatSeconds, atUnixSeconds: block.timestampUnixSeconds });
	}

	function answerOf(asset: SolanaAssetDeployment): FeedAnswer | undefined {
		return sourceOf(asset).newest()?.feeds.get(asset.feed.address);
	}

	function reference(address: Address): PricedToken {
		const asset = assets.get(address);
		const answer = asset && answerOf(asset);
		if (!answer) throw new RangeError(`the book has no price of ${address} on ${deployment.name}`);
		return { decimals: asset.decimals, usdE18: answer.usdE18 };
	}

	function lessSpread(
		asset: Address,
		{ amount, from, to }: { amount: Amount; from: Address; to: Address },
	): bigint {
		const spread = BigInt(spreadBps[assets.get(asset)?.kind ?? "volatile"]);
		const fair = convertDown(amount, reference(from), reference(to));
		return mulDivDown(fair, greater(bps - spread, 0n), bps);
	}
}
