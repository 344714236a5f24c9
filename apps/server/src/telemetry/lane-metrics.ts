import type { Meter } from "./meter.ts";

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
