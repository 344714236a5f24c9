import type { Milliseconds, StatusResponse, SwapUuid } from "@geoswap/protocol";
import { Webhook } from "standardwebhooks";
import type { Config } from "../config/config.ts";
import type { SealKeys } from "../config/seal-keys.ts";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { Row } from "../database/rows.ts";
import { eventBody, readEventsAt, type SwapEvent } from "../swap/event/read-events.ts";
import type { SwapRecord } from "../swap/facts/swap-record.ts";
import type { Log } from "../telemetry/log.ts";
import type { SendOutcome, WebhookSender } from "./create-sender.ts";
import { openSecret } from "./webhook-secret.ts";
import { olderSecrets } from "./webhooks.ts";

/** Maximum concurrent deliveries to one webhook, each of a different swap. */
const atOncePerWebhook = 8;
/** Maximum webhooks served concurrently. A slow webhook occupies only its own place. */
const webhooksAtOnce = 64;
/** The share by which a pause may be shorter or longer, so that retries do not reach receivers all together. */
const jitter = 0.2;
/** How long a delivery is retried. */
const patienceMs = 86_400_000;

type Due = Row<"webhooks", "url" | "secret" | "previous_secret" | "previous_until" | "older_secrets"> & {
	webhook_id: string;
	position: number;
	swap_id: SwapUuid;
	attempts: number;
	first_at: Date | null;
};
type Attempt = { due: Due; result: SendOutcome };
type PauseSeconds = Config["events"]["webhookPauseSeconds"];
export type DeliveryOutcome = "delivered" | "failed" | "given-up";

export type Deliverer = {
	/** Begins all deliveries that are due, except for webhooks that are being served. Resolves when they have begun. */
	deliverDue(): Promise<void>;
	/** Resolves when no delivery is in flight. */
	idle(): Promise<void>;
};

/** Returns the pause after this many failed attempts. */
export function retryPauseMs(
	attempts: number,
	{ pauseSeconds: { first, longest }, random }: { pauseSeconds: PauseSeconds; random: () => number },
): Milliseconds {
	const pauseMs = Math.min(longest, first * 3 ** (attempts - 1)) * 1_000;
	return Math.round(pauseMs * (1 + jitter * (2 * random() - 1)));
}

/**
 * Creates a deliverer. Only one worker has one at a time. An event is delivered at least once, with the same id each
 * time. An event of a swap is sent only after the swap's previous event was received or given up.
 */
export function createDeliverer({
	db,
	sender,
	keys,
	statusOf,
	pauseSeconds,
	onOutcome = () => {},
	random,
	nowMs,
	log,
}: {
	db: Database;
	sender: Pick<WebhookSender, "send">;
	keys: SealKeys;
	statusOf: (swap: SwapRecord) => StatusResponse;
	/** Pauses between attempts: the first, and the longest. */
	pauseSeconds: PauseSeconds;
	onOutcome?: (outcome: DeliveryOutcome) => void;
	/** Returns a number from 0 to 1. */
	random: () => number;
	nowMs: () => Milliseconds;
	log: Log;
}): Deliverer {
	/** The deliveries in flight, by webhook. */
	const serving = new Map<string, Promise<void>>();

	async function serve(deliveries: readonly Due[]): Promise<void> {
		const events = await readEventsAt(
			db,
			deliveries.map(({ position }) => position),
		);
		const attempts = await Promise.all(
			deliveries.map(async (due): Promise<Attempt> => {
				const event = events.find(({ position }) => position === due.position);
				// A deleted event needs no delivery.
				return { due, result: event ? await sendOne(due, event) : { outcome: "delivered" } };
			}),
		);
		for (const attempt of attempts) await record(attempt);
	}

	async function sendOne(due: Due, event: SwapEvent): Promise<SendOutcome> {
		const body = eventBody(event, { statusOf });
		const text = JSON.stringify(body);
		const at = new Date(nowMs());
		try {
			const signatures = secretsOf(due).map((secret) => new Webhook(secret).sign(body.id, at, text));
			const headers = {
				"webhook-id": body.id,
				"webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
				"webhook-signature": signatures.join(" "),
			};
			return await sender.send({ url: due.url, headers, body: text });
		} catch (error) {
			log.error({ err: error, webhookId: due.webhook_id }, "a webhook could not be signed");
			return { outcome: "failed", error: "the service could not sign the event" };
		}
	}

	function secretsOf(due: Due): string[] {
		const older = olderSecrets(due, { nowMs: nowMs() });
		return [due.secret, ...older.map(({ secret }) => secret)].map((sealed) =>
			openSecret(keys, { webhookId: due.webhook_id, sealed }),
		);
	}

	async function record({ due, result }: Attempt): Promise<void> {
		const { webhook_id: webhookId, position } = due;
		const now = new Date(nowMs());
		if (result.outcome === "delivered") {
			await db.query({
				name: "webhook-delivered",
				text: `with done as (delete from webhook_deliveries where webhook_id = $1 and position = $2)
					update webhooks set last_success_at = $3, failing_since = null where id = $1`,
				values: [webhookId, position, now],
			});
			onOutcome("delivered");
			return;
		}
		const error =
			result.outcome === "gone"
				? "the receiver answered 410, so no more events are sent to it"
				: result.error;
		const firstMs = due.first_at?.getTime() ?? now.getTime();
		const isGivenUp = result.outcome === "gone" || now.getTime() - firstMs >= patienceMs;
		const nextAt = new Date(now.getTime() + retryPauseMs(due.attempts + 1, { pauseSeconds, random }));
		const { rows } = await db.query<Row<"webhooks", "disabled_at">>({
			name: "webhook-failed",
			...namedParameters(
				`with given_up as (
					delete from webhook_deliveries where webhook_id = $webhookId and position = $position and $isGivenUp::boolean
				), retried as (
					update webhook_deliveries set attempts = attempts + 1, first_at = coalesce(first_at, $now), next_at = $nextAt
					where webhook_id = $webhookId and position = $position and not $isGivenUp::boolean
				)
				update webhooks set failing_since = coalesce(failing_since, $now), last_error = $error, last_error_at = $now,
					given_up = given_up + $isGivenUp::boolean::integer,
					disabled_at = case
						when $isGone::boolean or $isGivenUp::boolean and failing_since <= $patienceBeganAt then $now end
				where id = $webhookId and disabled_at is null returning disabled_at`,
				{
					webhookId,
					position,
					now,
					error,
					isGivenUp,
					nextAt,
					isGone: result.outcome === "gone",
					patienceBeganAt: new Date(now.getTime() - patienceMs),
				},
			),
		});
		onOutcome(isGivenUp ? "given-up" : "failed");
		if (!rows[0]?.disabled_at) return;
		await db.query({
			name: "webhook-disabled",
			text: `with dropped as (delete from webhook_deliveries where webhook_id = $1 returning position)
				update webhooks set given_up = given_up + (select count(*) from dropped) where id = $1`,
			values: [webhookId],
		});
		log.warn({ webhookId, error }, "a webhook was disabled");
	}

	return {
		async deliverDue() {
			const room = webhooksAtOnce - serving.size;
			if (room <= 0) return;
			const { rows } = await db.query<Due>({
				name: "due-deliveries",
				text: `select w.url, w.secret, w.previous_secret, w.previous_until, w.older_secrets, d.webhook_id, d.position,
						d.swap_id, d.attempts, d.first_at
					from webhooks w cross join lateral (
						select webhook_id, position, swap_id, attempts, first_at from webhook_deliveries d
						where d.webhook_id = w.id and d.next_at <= $1 and not exists (
							select from webhook_deliveries earlier where earlier.webhook_id = d.webhook_id
								and earlier.swap_id = d.swap_id and earlier.position < d.position
						)
						order by d.next_at, d.position limit $2
					) d
					where w.disabled_at is null and w.id <> all($3::uuid[])`,
				values: [new Date(nowMs()), atOncePerWebhook, [...serving.keys()]],
			});
			for (const [webhookId, deliveries] of [...Map.groupBy(rows, (due) => due.webhook_id)].slice(0, room)) {
				const served = serve(deliveries)
					.catch((error: unknown) =>
						log.warn({ err: error, webhookId }, "a webhook was not served; retrying"),
					)
					.finally(() => serving.delete(webhookId));
				serving.set(webhookId, served);
			}
		},
		idle: async () => void (await Promise.all(serving.values())),
	};
}
