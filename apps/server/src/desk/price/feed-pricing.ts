import {
	type Amount,
	greater,
	lesser,
	type Milliseconds,
	mulDivDown,
	type SolanaAssetDeployment,
	type SolanaDeployment,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Address } from "viem";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import { interpolate } from "./interpolate.ts";
import type { LadderPricing } from "./ladder-pricing.ts";
import type { PriceStop } from "./price-stop.ts";
import type { Pricing } from "./pricing.ts";
import type { Direction, QuoterLadders } from "./quoter-ladders.ts";
import {
	priceDeviationBps,
	type ReferenceTerms,
	referenceProblem,
	referencesApartBps,
} from "./reference-problem.ts";
import { convertDown, type PricedToken } from "./usd-value.ts";

const bps = 10_000n;

/** The fee per signature in lamports, which has never been different on the cluster. */
const signatureFee = 5_000n;
const slotSeconds = 0.4;

/** The desk's spread by kind of asset. */
export type SpreadBps = Record<SolanaAssetDeployment["kind"], number>;

/**
 * Prices assets by feeds, which are on other chains. The price is that of the feed less a spread, at any size, or
 * what a quoter pays if there is one. The desk must limit the size, since no pool does.
 */
export function createFeedPricing({
	deployment,
	spreadBps,
	feedChains,
	references,
	quoter,
	feedMarginBps,
}: {
	deployment: SolanaDeployment;
	spreadBps: SpreadBps;
	/** The chains that the feeds are on. */
	feedChains: ReadonlyMap<number, Pick<LadderPricing, "newest" | "isReady" | "ageMs">>;
	references: ReferenceTerms;
	/** Fresh prices at which the vault could trade on Solana. Absent without a quoter. */
	quoter?: QuoterLadders | undefined;
	/** The margin by which a quoter's price may exceed the feeds. */
	feedMarginBps: number;
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
		stopOf: (asset, { nowMs }) =>
			referenceStopOf(asset, nowMs) ?? referenceStopOf(settlementToken, nowMs) ?? quoterStopOf(asset),
		referenceStopOf: (asset, { nowMs }) => referenceStopOf(asset, nowMs),
		referencesApartBps: (address, { nowMs }) => {
			const asset = assets.get(address);
			const { pythPrices } = references;
			if (asset?.pythId === undefined || !pythPrices) return undefined;
			return referencesApartBps(asset.pythId, { answer: answerOf(asset), nowMs, pythPrices });
		},
		sell: ({ asset, amount, inFlight }) =>
			asset === settlementToken
				? amount
				: priced(asset, "sell", { amount, inFlight, from: asset, to: settlementToken }),
		buy: ({ asset, budget, inFlight }) => ({
			output: priced(asset, "buy", { amount: budget, inFlight, from: settlementToken, to: asset }),
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

	function referenceStopOf(address: Address, nowMs: Milliseconds): PriceStop | undefined {
		const asset = assets.get(address);
		if (!asset) return { reason: "reference-stale", symbol: address };
		const { symbol } = asset;
		const source = sourceOf(asset);
		const block = source.newest();
		if (!block || !source.isReady({ nowMs })) return { reason: "prices-old", symbol };
		const reason = referenceProblem(asset, { answer: answerOf(asset), block, nowMs }, references);
		return reason && { reason, symbol };
	}

	function answerOf(asset: SolanaAssetDeployment): FeedAnswer | undefined {
		return sourceOf(asset).newest()?.feeds.get(asset.feed.address);
	}

	function reference(address: Address): PricedToken {
		const asset = assets.get(address);
		const answer = asset && answerOf(asset);
		if (!answer) throw new RangeError(`the price cache has no price of ${address} on ${deployment.name}`);
		return { decimals: asset.decimals, usdE18: answer.usdE18 };
	}

	/**
	 * Returns what the quoter pays now less a margin, and never far above the feeds. Without a fresh price of the
	 * quoter, returns the feeds' price less the spread.
	 */
	function priced(
		asset: Address,
		direction: Direction,
		{ amount, inFlight, from, to }: { amount: Amount; inFlight: Amount; from: Address; to: Address },
	): bigint {
		const kind = assets.get(asset)?.kind ?? "volatile";
		const fair = convertDown(amount, reference(from), reference(to));
		const bySpread = less(fair, spreadBps[kind]);
		const rungs = quoter?.rungsOf(asset, direction);
		const top = rungs?.at(-1);
		if (!quoter || !rungs || !top) return bySpread;
		const paid = interpolate(rungs, amount, inFlight);
		if (paid === undefined) {
			// Beyond the top size the quoter would pay at most the top's rate, and how much less is unknown.
			const atTopRate = mulDivDown(amount, top.output, top.input);
			return lesser(bySpread, less(atTopRate, quoter.marginBps[kind]));
		}
		return lesser(less(paid, quoter.marginBps[kind]), mulDivDown(fair, bps + BigInt(feedMarginBps), bps));
	}

	/** Stops an asset if the quoter's price, the middle of both directions at the smallest size, is far from the feeds. */
	function quoterStopOf(address: Address): PriceStop | undefined {
		const sold = quoter?.rungsOf(address, "sell")?.[0];
		const bought = quoter?.rungsOf(address, "buy")?.[0];
		const symbol = assets.get(address)?.symbol;
		if (!quoter || !sold || !bought || symbol === undefined) return undefined;
		const [own, settlement] = [reference(address), reference(settlementToken)];
		const deviationBps = priceDeviationBps({
			sold,
			bought,
			soldByFeeds: convertDown(sold.input, own, settlement),
			boughtByFeeds: convertDown(bought.input, settlement, own),
		});
		return deviationBps !== undefined && deviationBps <= quoter.deviationBps
			? undefined
			: { reason: "references-differ", symbol };
	}
}

function less(amount: Amount, chargeBps: number): bigint {
	return mulDivDown(amount, greater(bps - BigInt(chargeBps), 0n), bps);
}
