import type { Milliseconds, UsdE18 } from "@geoswap/protocol";
import type { Hash } from "viem";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import type { Config } from "../../config/config.ts";

/** A price of Pyth, with half the width of its confidence interval. */
export type PythPrice = { usdE18: UsdE18; confidenceE18: UsdE18; publishedAtUnixSeconds: number };

/** The last prices of Pyth, in memory. */
export type PythPrices = {
	/**
	 * Takes over new prices. A price that is too uncertain, older than the known one, or from the future is ignored.
	 */
	update: (prices: ReadonlyMap<Hash, PythPrice>) => void;
	/** Returns the last price that was certain enough, of any age. */
	answerOf: (id: Hash) => FeedAnswer | undefined;
	isFresh: (answer: FeedAnswer | undefined, options: { nowMs: Milliseconds }) => answer is FeedAnswer;
	/** The difference between two references at which their asset is stopped. */
	deviationBps: number;
	/** True if an asset that has an id is stopped while Pyth has no fresh price of it. */
	isRequired: boolean;
};

const bps = 10_000n;

export function createPythPrices(
	{
		maxAgeSeconds,
		maxConfidenceBps,
		deviationBps,
		isRequired,
	}: Pick<
		NonNullable<Config["price"]["pyth"]>,
		"maxAgeSeconds" | "maxConfidenceBps" | "deviationBps" | "isRequired"
	>,
	{ nowMs }: { nowMs: () => Milliseconds },
): PythPrices {
	const answers = new Map<Hash, FeedAnswer>();
	return {
		update: (prices) => {
			for (const [id, { usdE18, confidenceE18, publishedAtUnixSeconds }] of prices) {
				const isCertain = confidenceE18 * bps <= usdE18 * BigInt(maxConfidenceBps);
				const isNewer = publishedAtUnixSeconds >= (answers.get(id)?.updatedAtUnixSeconds ?? 0);
				const isOfNow = publishedAtUnixSeconds <= nowMs() / 1_000 + maxAgeSeconds;
				if (usdE18 > 0n && isCertain && isNewer && isOfNow) {
					answers.set(id, { usdE18, updatedAtUnixSeconds: publishedAtUnixSeconds });
				}
			}
		},
		answerOf: (id) => answers.get(id),
		isFresh: (answer, { nowMs }): answer is FeedAnswer => {
			if (!answer || answer.usdE18 === 0n) return false;
			// A time that far ahead of this process's clock is not trusted either.
			return Math.abs(nowMs / 1_000 - answer.updatedAtUnixSeconds) <= maxAgeSeconds;
		},
		deviationBps,
		isRequired,
	};
}
