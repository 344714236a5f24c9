import type { Milliseconds, Seconds, SwapUuid } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { Part } from "../../database/statement-part.ts";
import type { StrikeReason } from "../facts/strike-reason.ts";

/** A strike counts for a day. */
const strikeLifeMs = 86_400_000;

/**
 * Writes down that a swap will be refunded because its recipient could not be paid. Strikes its account once per swap,
 * and deletes the account's strikes that have expired. A rebuilt swap without an account strikes nobody.
 */
export async function strikeAccount(
	db: Database,
	{ swapId, reason, nowMs }: { swapId: SwapUuid; reason: StrikeReason; nowMs: Milliseconds },
): Promise<void> {
	await db.query(
		`with struck as (
			insert into account_strikes (swap_id, account_id, at, reason)
			select id, account_id, $3, $2 from swaps where id = $1 and account_id is not null
			on conflict do nothing
			returning account_id
		)
		delete from account_strikes a using struck where a.account_id = struck.account_id and a.at <= $4`,
		[swapId, reason, new Date(nowMs), new Date(nowMs - strikeLifeMs)],
	);
}

/** An account's strikes that count now, and when the oldest of them expires. */
export type AccountStrikes = { count: number; retryAfterSeconds: Seconds };

export type StrikesRow = { strikes: number; struck_at: Date | null };

/** Returns the query for an account's strikes, which has one row. */
export function strikesRow({ accountId, nowMs }: { accountId: string; nowMs: Milliseconds }): Part {
	return {
		text: `select count(*)::int as strikes, min(at) as struck_at from account_strikes
			where account_id = $1 and at > $2`,
		values: [accountId, new Date(nowMs - strikeLifeMs)],
	};
}

export function strikesFromRow(
	{ strikes, struck_at }: StrikesRow,
	{ nowMs }: { nowMs: Milliseconds },
): AccountStrikes {
	const expiresAtMs = (struck_at?.getTime() ?? nowMs) + strikeLifeMs;
	return { count: strikes, retryAfterSeconds: Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1_000)) };
}
