import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";

/** Reads swaps in their state at the time of the call or later. */
export type SwapReader = { read(uuid: SwapUuid): Promise<SwapRecord | undefined> };

type Asked = PromiseWithResolvers<SwapRecord | undefined>;

/**
 * Creates a reader for thousands of concurrent calls. At most a few queries are in flight, and calls made meanwhile
 * share the next one. A single call waits for no other.
 */
export function createSwapReader({
	db,
	maxQueries = 4,
	maxInQuery = 500,
}: {
	db: Database;
	maxQueries?: number;
	maxInQuery?: number;
}): SwapReader {
	let waiting = new Map<SwapUuid, Asked>();
	let queries = 0;

	async function readNext(): Promise<void> {
		const batch = waiting.size <= maxInQuery ? waiting : new Map([...waiting].slice(0, maxInQuery));
		if (batch === waiting) waiting = new Map();
		else for (const uuid of batch.keys()) waiting.delete(uuid);
		queries++;
		try {
			const { rows } = await db.query<SwapRow>({
				name: "read-swaps",
				text: `select ${swapColumns} from swaps where id = any($1::uuid[])`,
				values: [[...batch.keys()]],
			});
			for (const row of rows) answer(batch.get(row.id), row);
			for (const { resolve } of batch.values()) resolve(undefined);
		} catch (error) {
			for (const { reject } of batch.values()) reject(error);
		} finally {
			queries--;
			if (waiting.size > 0) void readNext();
		}
	}

	return {
		read(uuid) {
			const known = waiting.get(uuid);
			if (known) return known.promise;
			const asked: Asked = Promise.withResolvers();
			waiting.set(uuid, asked);
			if (queries < maxQueries) void readNext();
			return asked.promise;
		},
	};
}

/** Answers one call. A row that cannot be parsed fails only its own call, not others in the query. */
function answer(asked: Asked | undefined, row: SwapRow): void {
	try {
		asked?.resolve(swapFromRow(row));
	} catch (error) {
		asked?.reject(error);
	}
}
