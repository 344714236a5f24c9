import { firstSwapUuidAt, type SwapStatus, type SwapUuid, swapUuidTimeMs } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";

const dayMs = 86_400_000;
/**
 * How far back each query of a call looks. A query locks each partition that it may read, with all its indices, 8 locks a
 * day, in a table that the whole database shares: without a lower end a few calls would fill it, and submits would fail.
 * Most calls end with the first one. All of them are half a year, so that an account without swaps is seen through in a
 * few calls.
 */
const windowDays = [2, 30, 30, 30, 30, 30, 30];

export type ListedSwaps = {
	accountId: string;
	/** Nothing is older, but for clocks that differ. */
	accountCreatedAtMs: number;
	/** Only what is older than this id. */
	before?: SwapUuid | undefined;
	status?: SwapStatus | undefined;
	limit: number;
	nowMs: number;
};

export type SwapPage = {
	/** At most the limit; fewer, or none, where there were too few in the time that one call looks at. */
	swaps: SwapRecord[];
	/** What to go on with: only older ones are left. Undefined where nothing is. */
	before: SwapUuid | undefined;
};

/**
 * An account's swaps, newest first by their ids. A page begins where an id is, not after so many rows: what is inserted
 * meanwhile moves nothing.
 */
export async function listSwaps(db: Database, listed: ListedSwaps): Promise<SwapPage> {
	const { accountCreatedAtMs, limit, nowMs } = listed;
	const beginningMs = Math.max(0, accountCreatedAtMs - dayMs);
	// Partitions are made ahead; ids are not, but for clocks that differ.
	let before = listed.before ?? firstSwapUuidAt(nowMs + dayMs);
	const swaps: SwapRecord[] = [];
	for (const days of windowDays) {
		const fromMs = Math.max(beginningMs, swapUuidTimeMs(before) - days * dayMs);
		const from = firstSwapUuidAt(fromMs);
		// One more than is shown tells whether there are more.
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
 * Its two texts have an index each. Not named: a plan that is kept for all accounts would be the one that is best for
 * whoever has most swaps, and one that is kept for all times would lock all partitions.
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
