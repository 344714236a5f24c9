import { randomBytes } from "node:crypto";
import { newSwapUuid, orderId, orderToJson, type SwapUuid, toSwapKey } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Database } from "../../src/database/database.ts";
import { plainOrder } from "../order/plain-order.ts";

/** Inserts a swap of the account that has just been submitted. */
export async function insertTestSwap(
	db: Database,
	{ accountId }: { accountId: string | null },
): Promise<SwapUuid> {
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const order = plainOrder({ swapKey: toSwapKey(uuid), inputAmount: 9n });
	await db.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, $4, 7, 700, '{"kind": "inventory", "amount": "7"}')`,
		[uuid, accountId, hexToBytes(orderId(order)), orderToJson(order)],
	);
	return uuid;
}

/** Moves a swap to a stage or a terminal status, as a round does. */
export async function moveTestSwap(db: Database, uuid: SwapUuid, to: string): Promise<void> {
	const column = ["settled", "failed", "refunded"].includes(to) ? "status" : "stage";
	await db.query(`update swaps set ${column} = $2::text, moves = moves || $2::text where id = $1`, [
		uuid,
		to,
	]);
}
