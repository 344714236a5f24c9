import {
	firstSwapUuidAt,
	type Milliseconds,
	type SwapStatus,
	type SwapUuid,
	swapUuidTimeMs,
} from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";

const dayMs = 86_400_000;
/**
 * Days that each query of a call looks back. A query locks every partition that it may read, with all its indices: 8
 * locks per day, in a table that the whole database shares. Without a lower bound a few calls would fill it, and
 * submits would fail. Most calls end with the first query. Together they cover half a year, so an account without swaps
 * is searched in a few calls.
 */
const windowDays = [2, 30, 30, 30, 30, 30, 30];

export type ListedSwaps = {
	accountId: string;
	/** The account's swaps are not older than this, except for clock differences. */
	accountCreatedAtMs: Milliseconds;
	/** If given, only swaps older than this id are listed. */
	before?: SwapUuid | undefined;
	status?: SwapStatus | undefined;
	limit: number;
	nowMs: Milliseconds;
};

export type SwapPage = {
	/** At most the limit; fewer, or none, if there are too few in the time that one call covers. */
	swaps: SwapRecord[];
	/** The id to continue from: only older swaps are left. Undefined if none are. */
	before: SwapUuid | undefined;
};

/**
 * Lists an account's swaps, newest first by id. A page begins at an id, not after a number of rows, so swaps inserted
 * meanwhile do not shift it.
 */
export async function listSwaps(db: Database, listed: ListedSwaps): Promise<SwapPage> {
	const { accountCreatedAtMs, limit, nowMs } = listed;
	const beginningMs = Math.max(0, accountCreatedAtMs - dayMs);
	// Partitions are created ahead of time; ids are not, except for clock differences.
	let before = listed.before ?? firstSwapUuidAt(nowMs + dayMs);
	const swaps: SwapRecord[] = [];
	for (const days of windowDays) {
		const fromMs = Math.max(beginningMs, swapUuidTimeMs(before) - days * dayMs);
		const from = firstSwapUuidAt(fromMs);
		// One row more than is shown tells whether there are more.
		const page = { ...listed, from, before, limit: limit + 1 - swaps.length };
		const { rows } = await db.query<SwapRow>(swapsBetween(page));
		swaps.push(...rows.map(swapFromRow));
		if (swaps.length > limit) return { swaps: swaps.slice(0, limit), before: swaps[limit - 1]?.id };
		if (fromMs <= beginningMs) return { swaps, before: undefined };
		before = from;
	}
	return { swaps, before };
}

/**
 * Returns the query, whose two texts have an index each. It is not named: a cached plan for all accounts would be the
 * best one for the account with most swaps, and one for all times would lock all partitions.
 */
export function swapsBetween({
	accountId,
	status,
	from,
	before,
	limit,
}: Pick<ListedSwaps, "accountId" | "status" | "limit"> & { from: SwapUuid; before: SwapUuid }) {
	const [ofStatus, values] = status === undefined ? ["", []] : ["and status = $5", [status]];
	return {
		text: `select ${swapColumns} from swaps where account_id = $1 ${ofStatus} and id >= $2 and id < $3
			order by id desc limit $4`,
		values: [accountId, from, before, limit, ...values],
	};
}
