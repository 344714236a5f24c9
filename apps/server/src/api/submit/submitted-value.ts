import type { Milliseconds, UsdCents } from "@geoswap/protocol";
import type { Part } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { recentSwapIds } from "../../swap/record/read-swap.ts";

const dayMs = 86_400_000;

/** A row of the query that `submittedValue` returns. */
export type SubmittedValue = {
	/** The time before which enough value was submitted that there is no room now. Null if there is room. */
	full_since: Date | null;
};

// A swap has the id of its quote, which may be older than its submit. Swaps that were never opened have failed.
const text = `select max(created_at) filter (where since_then > $roomUsdCents::bigint) as full_since
	from (
		select created_at, sum(value_usd_cents) over (order by created_at desc, id) as since_then
		from swaps
		where $roomUsdCents::bigint is not null and account_id = $accountId and status <> 'failed'
			and id between $firstSwapId and $lastSwapId and created_at > $since
	) submitted`;

/**
 * Returns a query for one row: whether the swaps that an account submitted in the last 24 hours are worth more than
 * this, and if so, the newest of those that must leave that time first. Run it under the lock of the account, so that
 * nothing is added meanwhile. Without a limit it reads no swap.
 */
export function submittedValue({
	accountId,
	roomUsdCents,
	nowMs,
}: {
	accountId: string;
	/** Undefined if the account's value is not limited. */
	roomUsdCents: UsdCents | undefined;
	nowMs: Milliseconds;
}): Part {
	const [firstSwapId] = recentSwapIds(nowMs - dayMs);
	const [, lastSwapId] = recentSwapIds(nowMs);
	return namedParameters(text, {
		roomUsdCents: roomUsdCents ?? null,
		accountId,
		firstSwapId,
		lastSwapId,
		since: new Date(nowMs - dayMs),
	});
}
