import { type StatusResponse, type SwapEventBody, type SwapUuid, toSwapId } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";
import type { SwapRecord } from "../facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../record/read-swap.ts";

/** A change of a swap, as it is reported to the swap's account. */
export type SwapEvent = {
	position: number;
	accountId: string;
	/** Distinguishes the events of a swap. */
	number: number;
	at: Date;
	/** The swap as the change left it. */
	swap: SwapRecord;
};

/** How far the events go. */
export type EventHead = {
	/** The number of times that the database was restored. Positions from before a restore may name other events. */
	epoch: number;
	/** The last position. */
	position: number;
	/** Events up to this position were deleted because of their age. */
	pruned: number;
};

export async function readEventHead(db: Database): Promise<EventHead> {
	const { rows } = await db.query<EventHead>({
		name: "read-event-head",
		text: "select (select count(*) from restores)::integer as epoch, position, pruned from event_head",
	});
	if (!rows[0]) throw new Error("the head of the events has one row");
	return rows[0];
}

const columnNames =
	"position, account_id, swap_id, number, at, status, stage, failure, origin_tx_hash, delivery_tx_hash, refund_tx_hash, delivered_amount, updated_at, opened_at, delivered_at, decided_at";

/** A row of `events`, without what never changes of its swap. */
export type EventRow = Row<"events", Named<typeof columnNames>> & Pick<SwapRow, "failure">;

/** The events to read: of all accounts, of one account, or of one of its swaps. */
export type EventSelection = { accountId?: string | undefined; swapId?: SwapUuid | undefined };

/** Returns rows after a position and up to another, in order. */
export async function readEventRows(
	db: Database,
	{ accountId, swapId, after, upTo, limit }: EventSelection & { after: number; upTo: number; limit: number },
): Promise<EventRow[]> {
	const { rows } = await db.query<EventRow>({
		name: "read-events",
		text: `select ${columnNames} from events where position > $1 and position <= $2
				and ($4::uuid is null or account_id = $4) and ($5::uuid is null or swap_id = $5)
			order by position limit $3`,
		values: [after, upTo, limit, accountId ?? null, swapId ?? null],
	});
	return rows;
}

/**
 * Adds the data of their swaps to rows. This is a separate statement, with the ids as a parameter, because a join would
 * lock every partition of swaps.
 */
export async function readEventSwaps(db: Database, rows: readonly EventRow[]): Promise<SwapEvent[]> {
	if (rows.length === 0) return [];
	const { rows: swapRows } = await db.query<SwapRow>({
		name: "read-event-swaps",
		text: `select ${swapColumns} from swaps where id = any($1::uuid[])`,
		values: [[...new Set(rows.map(({ swap_id }) => swap_id))]],
	});
	const swaps = new Map(swapRows.map((row) => [row.id, row]));
	return rows.flatMap((row) => {
		const swap = swaps.get(row.swap_id);
		if (!swap) return [];
		const { position, account_id, number, at, swap_id: _, ...then } = row;
		return {
			position,
			accountId: account_id,
			number,
			at,
			swap: swapFromRow({ ...swap, ...then, account_id }),
		};
	});
}

/** Returns the events at these positions that are still kept. */
export async function readEventsAt(db: Database, positions: readonly number[]): Promise<SwapEvent[]> {
	const { rows } = await db.query<EventRow>({
		name: "read-events-at",
		text: `select ${columnNames} from events where position = any($1::bigint[]) order by position`,
		values: [positions],
	});
	return readEventSwaps(db, rows);
}

/** Returns an event as callers get it, with the answer that a status call had given then. */
export function eventBody(
	event: SwapEvent,
	{ statusOf }: { statusOf: (swap: SwapRecord) => StatusResponse },
): SwapEventBody {
	const { swap, at } = event;
	return {
		id: eventId(event),
		type: `swap.${swap.status}`,
		timestamp: at.toISOString(),
		data: statusOf(swap),
	};
}

/**
 * Returns the event's id. It is made of what happened and not of a position, because after a restore positions are
 * given again, and a receiver that ignores known ids would ignore other events.
 */
function eventId({ number, swap: { id, status, stage } }: SwapEvent): string {
	const reached = status === "pending" ? stage : status;
	return `evt_${toSwapId(id).slice("swp_".length)}_${number}_${reached}`;
}
