import type { Meter } from "./meter.ts";

/** The counters of followers. */
export type FollowerMetrics = {
	/** Counts a follower's request to its chain's node for new blocks, by whether it was answered. */
	looked: (chainId: number, outcome: "ok" | "failed") => void;
};

export function followerMetrics(
	meter: Meter,
	{ chainIds }: { chainIds: readonly number[] },
): FollowerMetrics {
	const count = meter.counter(
		"geoswap_follower_looks_total",
		"How often a chain's follower looked for news: ok (its node answered, with or without a new block) or failed",
		chainIds.flatMap((chainId) => ["ok", "failed"].map((outcome) => ({ chain: String(chainId), outcome }))),
	);
	return { looked: (chainId, outcome) => count({ chain: String(chainId), outcome }) };
}
