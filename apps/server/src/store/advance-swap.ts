import { canMove, type FailureCode, isTerminal, type SwapStage, type SwapStatus } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";
import { type SwapRow, swapFromRow } from "./read-swap.ts";
import type { SwapRecord } from "./swap-record.ts";

/** A stage, or a status that ends them. */
export type Move = SwapStage | Exclude<SwapStatus, "pending">;

/** What the row of a swap is told of the chains. Null: what it said is not so any more. */
export type Notes = {
	originTxHash?: Hex | null;
	deliveryTxHash?: Hex | null;
	refundTxHash?: Hex | null;
	deliveredAmount?: bigint | null;
};

const failureMessages: Record<FailureCode, string> = {
	NOT_OPENED: "The order was not opened before its deadline. Nothing was taken from the wallet.",
	PRICE_MOVED:
		"The output fell below its minimum before it could be delivered. The whole input was returned.",
	NO_LIQUIDITY: "There was too little liquidity to deliver the output. The whole input was returned.",
	RECIPIENT_REFUSED: "The recipient could not be paid. The whole input was returned.",
	TOO_LATE: "The output could not be delivered in time. The whole input was returned.",
};

/** The swap's row, held until the transaction ends. */
export async function lockSwap(db: Database, swapId: string): Promise<SwapRecord | undefined> {
	const { rows } = await db.query<SwapRow>("select * from swaps where id = $1 for update", [swapId]);
	return rows[0] && swapFromRow(rows[0]);
}

/** Takes a locked swap through these steps, each of the one table. */
export async function advanceSwap(
	db: Database,
	swap: SwapRecord,
	path: readonly Move[],
): Promise<"applied" | "already applied"> {
	const last = path.at(-1);
	if (last === undefined || last === swap.stage || last === swap.status) return "already applied";
	let stage = swap.stage;
	let status: SwapStatus = swap.status;
	const steps = path.slice(path.indexOf(stage) + 1);
	for (const to of steps) {
		if (isTerminal(status) || !canMove(stage, to)) throw new IllegalMoveError(swap, path);
		if (to === "settled" || to === "failed" || to === "refunded") status = to;
		else stage = to;
	}
	if (status === "settled") stage = "delivered";
	const code = status === "failed" ? "NOT_OPENED" : status === "refunded" ? swap.givingUp : undefined;
	await db.query(
		`update swaps set stage = $2, status = $3, failure = coalesce($4, failure), moves = moves || $5::text[],
			updated_at = now()
		where id = $1`,
		[swap.id, stage, status, code ? { code, message: failureMessages[code] } : null, steps],
	);
	return "applied";
}

/** The facts from which this was decided are not those of the row: decide again. */
export class IllegalMoveError extends Error {
	override name = "IllegalMoveError";

	constructor({ id, status, stage }: SwapRecord, path: readonly Move[]) {
		super(`swap ${id} is ${status}, ${stage} and cannot go by way of ${path.join(", ")}`);
	}
}

/** Writes down what the chains say of a swap. */
export async function noteOnSwap(db: Database, swapId: string, notes: Notes): Promise<void> {
	const hash = (value: Hex | null | undefined) => (value ? hexToBytes(value) : null);
	await db.query(
		`update swaps set updated_at = now(),
			origin_tx_hash = case when $2 then $3 else origin_tx_hash end,
			delivery_tx_hash = case when $4 then $5 else delivery_tx_hash end,
			refund_tx_hash = case when $6 then $7 else refund_tx_hash end,
			delivered_amount = case when $8 then $9 else delivered_amount end
		where id = $1`,
		[
			swapId,
			notes.originTxHash !== undefined,
			hash(notes.originTxHash),
			notes.deliveryTxHash !== undefined,
			hash(notes.deliveryTxHash),
			notes.refundTxHash !== undefined,
			hash(notes.refundTxHash),
			notes.deliveredAmount !== undefined,
			notes.deliveredAmount ?? null,
		],
	);
}

/** From now on the output is not delivered any more. The first reason stays. */
export async function giveUpSwap(db: Database, swapId: string, code: FailureCode): Promise<void> {
	await db.query("update swaps set giving_up = $2, updated_at = now() where id = $1 and giving_up is null", [
		swapId,
		code,
	]);
}

/** One row of history per fact, however often it is found to be so. Returns whether it is news. */
export async function recordFact(
	db: Database,
	swapId: string,
	{ fact, data }: { fact: string; data: unknown },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`insert into swap_events (swap_id, fact, data) select $1, $2, $3 where $2 is distinct from (
			select fact from swap_events where swap_id = $1 order by seq desc limit 1
		)`,
		[swapId, fact, data],
	);
	return rowCount === 1;
}

/** Nothing is left to do: what was kept for the work in flight goes. `stale` where the swap has looked again since. */
export async function endSwap(
	db: Database,
	{ swapId, signalId }: { swapId: string; signalId: string },
	{ nowMs }: { nowMs: number },
): Promise<"ended" | "stale"> {
	await db.query(
		"update swaps set ended_at = to_timestamp($2::double precision / 1000) where id = $1 and ended_at is null",
		[swapId, nowMs],
	);
	await db.query("delete from jobs where swap_id = $1", [swapId]);
	const { rowCount } = await db.query("delete from waits where swap_id = $1 and signal_id = $2", [
		swapId,
		signalId,
	]);
	return rowCount === 1 ? "ended" : "stale";
}
