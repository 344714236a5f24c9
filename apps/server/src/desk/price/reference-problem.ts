import type { Amount, Milliseconds, Seconds } from "@geoswap/protocol";
import type { Hash } from "viem";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import type { PriceStop } from "./price-stop.ts";
import type { PythPrices } from "./pyth-prices.ts";

/** The references of an asset, as its deployment names them. */
type ReferencedAsset = { feed?: { heartbeatSeconds: Seconds }; pythId?: Hash };

export type ReferenceTerms = {
	/** Absent if Pyth is not configured. */
	pythPrices?: PythPrices | undefined;
	/** How long the feeds of a rollup are not trusted after its sequencer is up again. */
	sequencerGraceSeconds: Seconds;
};

const bps = 10_000n;

/**
 * Returns the reason why the asset's reference price must not be used, or undefined if it may. A second reference can
 * only stop an asset. The price that is used is always the feed's, unless there is no feed.
 */
export function referenceProblem(
	{ feed, pythId }: ReferencedAsset,
	{
		answer,
		block,
		nowMs,
	}: {
		answer: FeedAnswer | undefined;
		/** The newest block of the chain that the feed is on. */
		block: Pick<BlockPrices, "timestampUnixSeconds" | "sequencer">;
		nowMs: Milliseconds;
	},
	{ pythPrices, sequencerGraceSeconds }: ReferenceTerms,
): PriceStop["reason"] | undefined {
	const { sequencer, timestampUnixSeconds: atUnixSeconds } = block;
	if (sequencer && !sequencer.isUp) return "sequencer-down";
	if (sequencer && atUnixSeconds - sequencer.sinceUnixSeconds < sequencerGraceSeconds)
		return "sequencer-back";
	if (!feed) return pythPrices?.isFresh(answer, { nowMs }) ? undefined : "reference-stale";
	const { heartbeatSeconds } = feed;
	if (!isFeedFresh(answer, { heartbeatSeconds, atUnixSeconds })) return "reference-stale";
	if (!pythPrices || pythId === undefined) return undefined;
	const apartBps = referencesApartBps(pythId, { answer, nowMs, pythPrices });
	if (apartBps === undefined) return pythPrices.isRequired ? "second-reference-missing" : undefined;
	return apartBps > pythPrices.deviationBps ? "references-differ" : undefined;
}

/** Returns the difference between the feed and Pyth, rounded up; undefined if Pyth has no fresh price. */
export function referencesApartBps(
	pythId: Hash,
	{
		answer,
		nowMs,
		pythPrices,
	}: { answer: FeedAnswer | undefined; nowMs: Milliseconds; pythPrices: PythPrices },
): number | undefined {
	const second = pythPrices.answerOf(pythId);
	if (!answer || answer.usdE18 === 0n || !pythPrices.isFresh(second, { nowMs })) return undefined;
	const apart = second.usdE18 - answer.usdE18;
	return Number(((apart < 0n ? -apart : apart) * bps + answer.usdE18 - 1n) / answer.usdE18);
}

/** Extra seconds for a feed's round to be mined, because it is sent only at the heartbeat. */
const feedGraceSeconds = 120;

/** Returns true if the feed was updated within its heartbeat, by the clock of its own chain. */
export function isFeedFresh(
	feed: FeedAnswer | undefined,
	{ heartbeatSeconds, atUnixSeconds }: { heartbeatSeconds: Seconds; atUnixSeconds: Seconds },
): boolean {
	if (!feed || feed.usdE18 === 0n) return false;
	return atUnixSeconds - feed.updatedAtUnixSeconds <= heartbeatSeconds + feedGraceSeconds;
}

/**
 * Returns how far a venue's price is from the feeds', given a small sale and a small purchase, or undefined if the
 * feeds have no price. The venue's fee lowers both outputs, so half their difference is the deviation of the price.
 */
export function priceDeviationBps({
	sold,
	bought,
	soldByFeeds,
	boughtByFeeds,
}: {
	sold: { output: Amount };
	bought: { output: Amount };
	soldByFeeds: Amount;
	boughtByFeeds: Amount;
}): number | undefined {
	if (soldByFeeds === 0n || boughtByFeeds === 0n) return undefined;
	const apart = (sold.output * bps) / soldByFeeds - (bought.output * bps) / boughtByFeeds;
	return Math.abs(Number(apart)) / 2;
}
