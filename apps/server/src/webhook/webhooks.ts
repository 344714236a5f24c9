import type { Milliseconds } from "@geoswap/protocol";
import { type Database, type DatabasePool, inTransaction } from "../database/database.ts";
import type { Named, Row } from "../database/rows.ts";

const columnNames =
	"id, url, created_at, last_success_at, failing_since, last_error, last_error_at, given_up, disabled_at";

/** A webhook in the form of the API. */
export type WebhookRow = Row<"webhooks", Named<typeof columnNames>> & {
	/** The number of events that are still to be delivered. */
	waiting: number;
};

/**
 * Inserts a webhook, which receives events from now on. Returns false if the account has the maximum number. Requests
 * of one account run one after the other, because concurrent ones would each count before the others have inserted.
 */
export async function insertWebhook(
	pool: DatabasePool,
	{
		id,
		accountId,
		url,
		sealedSecret,
		most,
	}: { id: string; accountId: string; url: string; sealedSecret: string; most: number },
): Promise<boolean> {
	return inTransaction(pool, async (db) => {
		await db.query("select pg_advisory_xact_lock(hashtextextended('webhooks:' || $1, 0))", [accountId]);
		const { rowCount } = await db.query(
			`insert into webhooks (id, account_id, url, secret, after)
			select $1, $2, $3, $4, position from event_head
			where (select count(*) from webhooks where account_id = $2) < $5::integer`,
			[id, accountId, url, sealedSecret, most],
		);
		return rowCount === 1;
	});
}

/** Returns the account's webhooks, oldest first. */
export async function listWebhooks(db: Database, accountId: string): Promise<WebhookRow[]> {
	const { rows } = await db.query<WebhookRow>(
		`select ${columnNames},
			(select count(*)::integer from webhook_deliveries where webhook_id = webhooks.id) as waiting
		from webhooks where account_id = $1 order by created_at, id`,
		[accountId],
	);
	return rows;
}

/** Returns false if the account has no such webhook. */
export async function deleteWebhook(
	db: Database,
	{ id, accountId }: { id: string; accountId: string },
): Promise<boolean> {
	const { rowCount } = await db.query("delete from webhooks where id = $1 and account_id = $2", [
		id,
		accountId,
	]);
	return rowCount === 1;
}

/** A secret that was replaced before the previous one, and signs until its expiry. */
export type OlderSecret = { secret: string; until: Milliseconds };

/**
 * Gives the webhook a new secret. Every earlier secret also signs until its expiry, which is given here for the last
 * one. A caller who repeats a rotation, because no answer came, has a receiver that knows an older secret. Returns
 * "too many" if more than `most` would sign.
 */
export async function rotateWebhook(
	pool: DatabasePool,
	{
		id,
		accountId,
		sealedSecret,
		previousUntilMs,
		nowMs,
		most,
	}: {
		id: string;
		accountId: string;
		sealedSecret: string;
		previousUntilMs: Milliseconds;
		nowMs: Milliseconds;
		most: number;
	},
): Promise<"rotated" | "too many" | "none"> {
	return inTransaction(pool, async (db) => {
		const { rows } = await db.query<Row<"webhooks", "previous_secret" | "previous_until" | "older_secrets">>(
			`select previous_secret, previous_until, older_secrets from webhooks
			where id = $1 and account_id = $2 for update`,
			[id, accountId],
		);
		const [webhook] = rows;
		if (!webhook) return "none";
		const older = olderSecrets(webhook, { nowMs });
		// The new secret, and the one that it replaces, are two more.
		if (older.length + 2 > most) return "too many";
		await db.query(
			`update webhooks set secret = $2, previous_secret = secret, previous_until = $3, older_secrets = $4
			where id = $1`,
			[id, sealedSecret, new Date(previousUntilMs), JSON.stringify(older)],
		);
		return "rotated";
	});
}

/** Returns all secrets before the current one that still sign. */
export function olderSecrets(
	{
		previous_secret: previous,
		previous_until: until,
		older_secrets: older,
	}: Row<"webhooks", "previous_secret" | "previous_until" | "older_secrets">,
	{ nowMs }: { nowMs: Milliseconds },
): OlderSecret[] {
	const last = previous !== null && until !== null ? [{ secret: previous, until: until.getTime() }] : [];
	return [...last, ...(older as OlderSecret[])].filter((one) => one.until > nowMs);
}

/** Adds a delivery for each newly published event and each webhook of its account. */
export async function queueDeliveries(pool: DatabasePool, { nowMs }: { nowMs: Milliseconds }): Promise<void> {
	await inTransaction(
		pool,
		(db) =>
			db.query({
				name: "queue-deliveries",
				text: `with queued as (
						insert into webhook_deliveries (webhook_id, position, swap_id, next_at)
						select w.id, e.position, e.swap_id, to_timestamp($1::double precision / 1000)
						from event_head h join events e on e.position > h.queued
							join webhooks w on w.account_id = e.account_id and w.disabled_at is null and e.position > w.after
						on conflict do nothing
					)
					update event_head set queued = position where queued < position`,
				values: [nowMs],
			}),
		// A separate statement, because one that waits for a lock does not read what was published meanwhile.
		{ first: "select position from event_head for no key update" },
	);
}
