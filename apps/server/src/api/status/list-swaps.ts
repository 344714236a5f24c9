import {
	firstSwapUuidAt,
	type Milliseconds,
	type SwapStatus,
	type SwapUuid,
	swapStatuses,
	swapUuidTimeMs,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";

const dayMs = 86_400_000;
/**
 * Days that each query of a call covers, going back. A query locks every partition that it may read, with all its
 * indices, which is 10 locks per day in a table that the whole database shares. Without a lower bound a few calls
 * would fill that table, and submits would fail. Most calls end with the first query. Together the queries cover half
 * a year, so an account without swaps is searched in a few calls.
 */
const windowDays = [2, 30, 30, 30, 30, 30, 30];

export type ListedSwaps = {
	accountId: string;
	/** The account's swaps are not older than this, except for clock differences. */
	accountCreatedAtMs: Milliseconds;
	/** If given, only swaps older than this id are listed. */
	before?: SwapUuid | undefined;
	status?: SwapStatus | undefined;
	/** If given, only swaps of this wallet, as the word in orders. */
	wallet?: Hex | undefined;
	/** If given, only swaps quoted at this time or later. */
	fromMs?: Milliseconds | undefined;
	/** If given, only swaps quoted before this time. */
	toMs?: Milliseconds | undefined;
	limit: number;
	nowMs: Milliseconds;
};

export type SwapPage = {
	/** At most the limit. Fewer, or none, if there are too few in the time that one call covers. */
	swaps: SwapRecord[];
	/** The id to continue from, since only older swaps are left. Undefined if none are. */
	before: SwapUuid | undefined;
};

/**
 * Lists an account's swaps, newest first by id. A page begins at an id, not after a number of rows, so swaps inserted
 * meanwhile do not shift it.
 */
export async function listSwaps(db: Database, listed: ListedSwaps): Promise<SwapPage> {
	const { accountCreatedAtMs, limit, nowMs } = listed;
	const beginningMs = Math.max(0, accountCreatedAtMs - dayMs, listed.fromMs ?? 0);
	// Partitions are created ahead of time. Ids are not, except for clock differences.
	const endMs = Math.min(nowMs + dayMs, listed.toMs ?? Number.POSITIVE_INFINITY);
	if (endMs <= beginningMs) return { swaps: [], before: undefined };
	let before = listed.before ?? firstSwapUuidAt(endMs);
	const swaps: SwapRecord[] = [];
	for (const days of windowDays) {
		const fromMs = Math.max(beginningMs, swapUuidTimeMs(before) - days * dayMs);
		const from = firstSwapUuidAt(fromMs);
		// One more row than is shown indicates whether there are more.
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
 * Returns the query. Without a wallet, its two texts have an index each. The index of wallets ends with status and id,
 * so that one index serves both kinds of lists. A list of all statuses takes the newest of each. The query is not
 * named, because a cached plan for all accounts would suit only the account with the most swaps, and one for all times
 * would lock all partitions.
 */
export function swapsBetween({
	accountId,
	status,
	wallet,
	from,
	before,
	limit,
}: Pick<ListedSwaps, "accountId" | "status" | "wallet" | "limit"> & { from: SwapUuid; before: SwapUuid }) {
	const values = [accountId, from, before, limit];
	const newest = (filter: string) =>
		`select ${swapColumns} from swaps where account_id = $1 ${filter} and id >= $2 and id < $3
			order by id desc limit $4`;
	if (wallet !== undefined) {
		const statuses = status === undefined ? swapStatuses : [status];
		const ofEach = statuses.map(
			(one) => `(${newest(`and order_terms->>'wallet' = $5 and status = '${one}'`)})`,
		);
		return {
			text: `select * from (${ofEach.join(" union all ")}) as newest order by id desc limit $4`,
			values: [...values, wallet],
		};
	}
	if (status !== undefined) return { text: newest("and status = $5"), values: [...values, status] };
	return { text: newest(""), values };
}
