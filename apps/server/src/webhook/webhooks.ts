import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import type { Named, Row } from "../database/rows.ts";

const columnNames =
	"id, url, created_at, last_success_at, failing_since, last_error, last_error_at, given_up, disabled_at";

/** A webhook as its account sees it. */
export type WebhookRow = Row<"webhooks", Named<typeof columnNames>> & {
	/** Events that are still to be delivered. */
	waiting: number;
};

/** Inserts a webhook that is told of events from now on. Returns false if the account has as many as it may. */
export async function insertWebhook(
	db: Database,
	{
		id,
		accountId,
		url,
		sealedSecret,
		most,
	}: { id: string; accountId: string; url: string; sealedSecret: string; most: number },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`insert into webhooks (id, account_id, url, secret, after)
		select $1, $2, $3, $4, position from event_head
		where (select count(*) from webhooks where account_id = $2) < $5::integer`,
		[id, accountId, url, sealedSecret, most],
	);
	return rowCount === 1;
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

/** Gives the webhook a new secret. The one before signs too until the given time. Returns false if there is none. */
export async function rotateWebhook(
	db: Database,
	{
		id,
		accountId,
		sealedSecret,
		previousUntilMs,
	}: { id: string; accountId: string; sealedSecret: string; previousUntilMs: Milliseconds },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`update webhooks set secret = $3, previous_secret = secret, previous_until = $4
		where id = $1 and account_id = $2`,
		[id, accountId, sealedSecret, new Date(previousUntilMs)],
	);
	return rowCount === 1;
}
