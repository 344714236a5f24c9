import {
	type FailureCode,
	firstSwapUuidAt,
	type Milliseconds,
	orderSchema,
	type SwapUuid,
} from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";
import type { SwapRecord } from "../facts/swap-record.ts";
import { deliveryFromJson, networkCostFromJson, signedOpFromJson } from "./swap-json.ts";

/** A row of `swaps` as the driver gives it. */
export type SwapRow = Row<"swaps", Named<typeof swapColumnNames>> & {
	fee_millibps: number;
	failure: { code: FailureCode; message: string } | null;
	giving_up: FailureCode | null;
};

/**
 * The names of a SwapRow's columns. A named statement lists them, because with `*` it would fail on every open
 * connection once a later version has added a column.
 */
export const swapColumnNames =
	"id, account_id, order_id, order_terms, output, value_usd_cents, fee_millibps, skew_centibps, network_cost, delivery, op, status, stage, failure, giving_up, origin_tx_hash, delivery_tx_hash, refund_tx_hash, delivered_amount, created_at, updated_at, opened_at, delivered_at, decided_at, ended_at, trace";

/** The same, as they are read from `swaps`. Older rows have no fee in thousandths of a basis point. */
export const swapColumns = swapColumnNames.replace(
	"fee_millibps",
	"coalesce(fee_millibps, 10 * fee_centibps) as fee_millibps",
);

export async function readSwap(db: Database, uuid: SwapUuid): Promise<SwapRecord | undefined> {
	const { rows } = await db.query<SwapRow>({
		name: "read-swap",
		text: `select ${swapColumns} from swaps where id = $1`,
		values: [uuid],
	});
	return rows[0] && swapFromRow(rows[0]);
}

export function swapFromRow(row: SwapRow): SwapRecord {
	return {
		id: row.id,
		accountId: row.account_id ?? undefined,
		orderId: bytesToHex(row.order_id),
		order: orderSchema.parse(row.order_terms),
		output: row.output,
		valueUsdCents: BigInt(row.value_usd_cents),
		feeMillibps: row.fee_millibps,
		skewCentibps: row.skew_centibps,
		networkCost: row.network_cost === null ? undefined : networkCostFromJson(row.network_cost),
		delivery: deliveryFromJson(row.delivery),
		op: row.op === null ? undefined : signedOpFromJson(row.op),
		status: row.status,
		stage: row.stage,
		failure: row.failure ?? undefined,
		givingUp: row.giving_up ?? undefined,
		originTxHash: toHash(row.origin_tx_hash),
		deliveryTxHash: toHash(row.delivery_tx_hash),
		refundTxHash: toHash(row.refund_tx_hash),
		deliveredAmount: row.delivered_amount ?? undefined,
		createdAt: row.created_at,
		updatedAt: row.updated_at,
		openedAt: row.opened_at ?? undefined,
		deliveredAt: row.delivered_at ?? undefined,
		decidedAt: row.decided_at ?? undefined,
		endedAt: row.ended_at ?? undefined,
		trace: row.trace ?? undefined,
	};
}

function toHash(bytes: Buffer | null): Hex | undefined {
	return bytes ? bytesToHex(bytes) : undefined;
}

const dayMs = 86_400_000;
/** Time that an id may be ahead, since ids are made by the clocks of other processes too. */
const aheadMs = 3_600_000;

/**
 * Returns the first and the last id that a swap of the last day can have. A statement with both is planned for the
 * partitions of two days. With the first alone it is planned for the empty ones of future days too, which takes longer
 * than to run it.
 */
export function recentSwapIds(nowMs: Milliseconds): [first: SwapUuid, last: SwapUuid] {
	return [firstSwapUuidAt(nowMs - dayMs), firstSwapUuidAt(nowMs + aheadMs)];
}
