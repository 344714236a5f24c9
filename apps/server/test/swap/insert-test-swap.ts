import { randomBytes } from "node:crypto";
import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SwapUuid,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { hexToBytes, zeroHash } from "viem";
import type { Database } from "../../src/database/database.ts";

/** Inserts a swap of the account that has just been submitted. */
export async function insertTestSwap(
	db: Database,
	{ accountId }: { accountId: string | null },
): Promise<SwapUuid> {
	const word = toWord(`0x${"a1".repeat(20)}`);
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const order: Order = {
		originChainId: 31337n,
		destinationChainId: 31338n,
		escrow: word,
		originVault: word,
		destinationVault: word,
		attesterSet: zeroHash,
		wallet: word,
		inputToken: word,
		inputAmount: 9n,
		outputToken: word,
		minOutput: 5n,
		recipient: word,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	};
	await db.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, $4, 7, 700, '{"kind": "stock", "amount": "7"}')`,
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
