import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import { holdLeadership, type UntilBeat } from "../database/leadership.ts";
import { pruneEvents, publishEvents } from "../swap/event/publish-events.ts";
import type { Deliverer } from "../webhook/create-deliverer.ts";
import { queueDeliveries } from "../webhook/webhooks.ts";

/** The maximum delay before an event is published. */
const publishEveryMs = 250;
const pruneEveryMs = 60_000;
const dayMs = 86_400_000;

/**
 * Publishes the events of swaps, serves webhooks and deletes old events, in one worker at a time, until the signal
 * aborts. Returns if another worker does it. Two concurrent workers would do no harm, because publishing locks the
 * head of the events.
 */
export async function keepEvents({
	config: { events },
	pool,
	webhooks,
	wait,
	untilBeat,
	nowMs,
	signal,
}: {
	config: Pick<Config, "events">;
	pool: DatabasePool;
	/** Undefined if the service has no webhooks. */
	webhooks?: Deliverer | undefined;
	wait: (ms: Milliseconds) => Promise<void>;
	untilBeat?: UntilBeat;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
}): Promise<void> {
	await holdLeadership(pool, { name: "events", ...(untilBeat && { untilBeat }) }, async (isHeld) => {
		let prunedAtMs = Number.NEGATIVE_INFINITY;
		while (!signal.aborted && isHeld()) {
			while ((await publishEvents(pool)) > 0 && isHeld());
			if (webhooks) {
				await queueDeliveries(pool, { nowMs: nowMs() });
				await webhooks.deliverDue();
			}
			if (nowMs() - prunedAtMs >= pruneEveryMs) {
				const retentionMs = events.retentionDays * dayMs;
				while ((await pruneEvents(pool, { retentionMs, nowMs: nowMs() })) > 0 && isHeld());
				prunedAtMs = nowMs();
			}
			await wait(publishEveryMs);
		}
		// Deliveries in flight end before another worker may send the same.
		await webhooks?.idle();
	});
}
