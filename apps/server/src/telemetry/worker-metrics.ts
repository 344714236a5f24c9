import type { Meter } from "./meter.ts";

const objects = ["round", "lane", "attestation", "crossCheck"] as const;

export type TickMetrics = {
	/** Counts a tick that searched for due work, or failed to. */
	ticked: (outcome: "done" | "failed") => void;
	/** Counts a handler that a tick ran itself, since the engine had not. */
	ranHere: (object: (typeof objects)[number]) => void;
};

export function tickMetrics(meter: Meter): TickMetrics {
	const countTick = meter.counter(
		"geoswap_ticks_total",
		"Ticks, in each of which a worker queries for due work",
		[{ outcome: "done" }, { outcome: "failed" }],
	);
	const countRun = meter.counter(
		"geoswap_tick_runs_total",
		"Runs that a tick made itself because the engine had not made them for two seconds",
		objects.map((object) => ({ object })),
	);
	return {
		ticked: (outcome) => countTick({ outcome }),
		ranHere: (object) => countRun({ object }),
	};
}

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
		"Polls of a chain's follower for new blocks, by result: ok (its node answered, with or without a new block) or failed",
		chainIds.flatMap((chainId) => ["ok", "failed"].map((outcome) => ({ chain: String(chainId), outcome }))),
	);
	return { looked: (chainId, outcome) => count({ chain: String(chainId), outcome }) };
}

/** The counters of lanes. */
export type LaneMetrics = {
	/** Counts a payment that was not signed because the facts do not justify it. */
	paymentStopped: (chainId: number, problem: string) => void;
};

const problems = [
	"wrong-order",
	"not-opened",
	"not-deep",
	"unseen",
	"not-reserved",
	"no-price",
	"above-deposit",
];

export function laneMetrics(meter: Meter, { chainIds }: { chainIds: readonly number[] }): LaneMetrics {
	const count = meter.counter(
		"geoswap_payments_stopped_total",
		"Payments that a lane refused to sign because the deposit, the reservation or the prices do not justify them, by problem",
		chainIds.flatMap((chainId) => problems.map((problem) => ({ chain: String(chainId), problem }))),
	);
	return { paymentStopped: (chainId, problem) => count({ chain: String(chainId), problem }) };
}

const outcomes = ["delivered", "failed", "given-up"] as const;

/** Returns a function that counts attempts to deliver an event to a webhook. */
export function webhookMetrics(meter: Meter): (outcome: (typeof outcomes)[number]) => void {
	const count = meter.counter(
		"geoswap_webhook_attempts_total",
		"Attempts to deliver an event to a webhook: delivered, failed (it is retried), or given up after a day",
		outcomes.map((outcome) => ({ outcome })),
	);
	return (outcome) => count({ outcome });
}
