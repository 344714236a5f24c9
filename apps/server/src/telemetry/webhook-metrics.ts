import type { Meter } from "./meter.ts";

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
