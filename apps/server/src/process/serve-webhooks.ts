import type { Milliseconds } from "@geoswap/protocol";
import { swapAnswer } from "../api/status/swap-answer.ts";
import type { Config } from "../config/config.ts";
import { createExplorerPages } from "../config/explorer-pages.ts";
import { finalitySecondsOf } from "../config/finality-seconds.ts";
import { isDevnet } from "../config/is-devnet.ts";
import type { SealKeys } from "../config/seal-keys.ts";
import type { DatabasePool } from "../database/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Meter } from "../telemetry/meter.ts";
import { webhookMetrics } from "../telemetry/worker-metrics.ts";
import { createDeliverer, type Deliverer } from "../webhook/create-deliverer.ts";
import { createSender, type WebhookSender } from "../webhook/create-sender.ts";

/** Creates what serves webhooks. Returns undefined if there are no keys for their secrets. */
export function serveWebhooks({
	config,
	pool,
	keys,
	meter,
	nowMs,
	log,
}: {
	config: Config;
	pool: DatabasePool;
	keys: SealKeys | undefined;
	meter: Meter | undefined;
	nowMs: () => Milliseconds;
	log: Log;
}): { deliverer: Deliverer; sender: WebhookSender } | undefined {
	// The series exist on every worker, even without webhooks.
	const onOutcome = meter && webhookMetrics(meter);
	if (!keys) return undefined;
	const answerParts = {
		finalitySeconds: finalitySecondsOf(config),
		explorers: createExplorerPages(config),
	};
	const sender = createSender({ isDevnet: isDevnet(config) });
	const deliverer = createDeliverer({
		db: pool,
		sender,
		keys,
		statusOf: (swap) => swapAnswer(swap, answerParts),
		pauseSeconds: config.events.webhookPauseSeconds,
		...(onOutcome && { onOutcome }),
		random: Math.random,
		nowMs,
		log,
	});
	return { deliverer, sender };
}
