import type { DepositSight } from "../chain/deposit-sight.ts";
import type { Log } from "../log.ts";
import type { DatabasePool } from "../store/database.ts";
import { readSwap } from "../store/read-swap.ts";
import { saveSighting } from "../store/save-sighting.ts";
import type { SwapMetrics } from "../telemetry/swap-metrics.ts";
import type { DepositToSee } from "./decision.ts";
import type { SecondProviders } from "./second-providers.ts";

/** What came of asking: `silent` where it did not answer. */
export type SecondWord = "agrees" | "behind" | "differs" | "silent";

/** Two honest nodes can be on two forks for so long. */
const forkMs = 30_000;

/** What it said last, since when, and whether a person was told that it differs. */
export type SecondAnswer = { word: SecondWord; sinceMs: number; isAlarmed: boolean };

/**
 * Asks the second provider of the swap's origin for its deposit, and keeps what it says where it agrees. Never throws
 * for a provider that does not answer: then the swap waits, as it does for one that is behind.
 */
export async function askSecondProvider(
	{
		pool,
		secondProviders,
		metrics,
		nowMs,
		log,
	}: {
		pool: DatabasePool;
		secondProviders?: SecondProviders | undefined;
		metrics?: SwapMetrics | undefined;
		nowMs: () => number;
		log: Log;
	},
	{ swapId, deposit, before }: { swapId: string; deposit: DepositToSee; before: SecondAnswer | undefined },
): Promise<SecondAnswer> {
	const { chainId, finalizedNumber, headNumber, ...place } = deposit;
	const swap = await readSwap(pool, swapId);
	if (!swap) throw new Error(`swap ${swapId} has no row`);
	const { orderId, order } = swap;
	const about = { swapId, chainId, orderId, ...place };
	const tell = (word: SecondWord, more: object = {}): SecondAnswer => {
		metrics?.secondAsked(chainId, word);
		const now = nowMs();
		const same = before?.word === word ? before : undefined;
		const sinceMs = same?.sinceMs ?? now;
		const isAlarmed = word === "differs" && now - sinceMs >= forkMs;
		// Once each, however often it is asked: a node that is down is down for many swaps, for a while.
		if (isAlarmed && !same?.isAlarmed) log.error({ ...about, ...more }, told[word]);
		else if (!same) log[word === "agrees" ? "info" : "warn"]({ ...about, ...more }, told[word]);
		return { word, sinceMs, isAlarmed };
	};
	let sight: DepositSight;
	try {
		if (!secondProviders) throw new Error("none is connected");
		sight = await secondProviders(chainId, { orderId, order, ...place });
	} catch (err) {
		return tell("silent", { err });
	}
	if (sight.verdict === "behind") return tell("behind");
	if (sight.verdict === "differs") return tell("differs", { how: sight.how });
	const isFarEnough = headNumber !== undefined && sight.headNumber >= headNumber;
	if (!isFarEnough && sight.finalizedNumber < finalizedNumber) return tell("behind");
	await saveSighting(pool, { chainId, orderId, ...place, ...sight });
	return tell("agrees");
}

const told: Record<SecondWord, string> = {
	agrees: "the second provider has the deposit too",
	behind: "the second provider does not have the deposit as deep yet",
	differs:
		"the providers differ over a deposit: nothing is delivered for it. One of them lies, or is on a fork",
	silent: "the second provider does not answer",
};
