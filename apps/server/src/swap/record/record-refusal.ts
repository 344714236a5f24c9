import type { Milliseconds, Seconds, SwapUuid } from "@geoswap/protocol";
import type { Database, Part } from "../../database/database.ts";
import type { RefusalReason } from "../facts/job.ts";

/** A refusal counts for a day. */
const refusalLifeMs = 86_400_000;

/**
 * Records that a swap will be refunded because its recipient could not be paid. Each swap is one refusal, counted for
 * its account. Deletes the account's refusals that have expired. A rebuilt swap without an account counts none.
 */
export async function recordRefusal(
	db: Database,
	{ swapId, reason, nowMs }: { swapId: SwapUuid; reason: RefusalReason; nowMs: Milliseconds },
): Promise<void> {
	await db.query(
		`with refused as (
			insert into account_refusals (swap_id, account_id, at, reason)
			select id, account_id, $3, $2 from swaps where id = $1 and account_id is not null
			on conflict do nothing
			returning account_id
		)
		delete from account_refusals a using refused where a.account_id = refused.account_id and a.at <= $4`,
		[swapId, reason, new Date(nowMs), new Date(nowMs - refusalLifeMs)],
	);
}

/** An account's refusals that count now, and when the oldest of them expires. */
export type AccountRefusals = { count: number; retryAfterSeconds: Seconds };

export type RefusalsRow = { refusals: number; refused_at: Date | null };

/** Returns the query for an account's refusals, which has one row. */
export function refusalsRow({ accountId, nowMs }: { accountId: string; nowMs: Milliseconds }): Part {
	return {
		text: `select count(*)::int as refusals, min(at) as refused_at from account_refusals
			where account_id = $1 and at > $2`,
		values: [accountId, new Date(nowMs - refusalLifeMs)],
	};
}

export function refusalsFromRow(
	{ refusals, refused_at }: RefusalsRow,
	{ nowMs }: { nowMs: Milliseconds },
): AccountRefusals {
	const expiresAtMs = (refused_at?.getTime() ?? nowMs) + refusalLifeMs;
	return { count: refusals, retryAfterSeconds: Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1_000)) };
}
