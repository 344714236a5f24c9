import { type Amount, addressOfWord, fromSwapKey, type Milliseconds, type Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database, Part } from "../../database/database.ts";
import { recentSwapIds } from "../../swap/record/read-swap.ts";

/** An order that will take this much of its input token once it is opened. */
export type WalletUnopened = {
	orderId: Hex;
	escrow: Hex;
	amount: Amount;
	/** The digest of the mandate within which an agent signed it. */
	mandate?: Hex;
};

/**
 * Returns the wallet's other swaps that have not yet taken the same token on the same chain. Some may already be open
 * on chain, if the follower has not written that yet. No order can be opened more than a day after its quote.
 */
export async function walletUnopened(
	db: Database,
	{ order, nowMs }: { order: Order; nowMs: Milliseconds },
): Promise<WalletUnopened[]> {
	const { rows } = await db.query<UnopenedRow>({
		name: "wallet-unopened",
		...unopenedRows({ order, nowMs }),
	});
	return rows.map((row) => unopenedFromRow(order, row));
}

export type UnopenedRow = { orderId: Hex; escrow: Hex; amount: string; mandate: Hex | null };

/** Returns a query for the rows. The third parameter is the swap's id. */
export function unopenedRows({ order, nowMs }: { order: Order; nowMs: Milliseconds }): Part {
	const [first, last] = recentSwapIds(nowMs);
	return {
		text: `select '0x' || encode(order_id, 'hex') as "orderId", order_terms->>'escrow' as escrow,
				order_terms->>'inputAmount' as amount, op->'mandate'->>'digest' as mandate
			from swaps
			where order_terms->>'wallet' = $1 and status = 'pending' and stage = 'opening' and id between $2 and $6
				and id <> $3 and order_terms->>'inputToken' = $4 and order_terms->>'originChainId' = $5`,
		values: [
			order.wallet,
			first,
			fromSwapKey(order.swapKey),
			order.inputToken,
			String(order.originChainId),
			last,
		],
	};
}

export function unopenedFromRow(
	order: Order,
	{ orderId, escrow, amount, mandate }: UnopenedRow,
): WalletUnopened {
	return {
		orderId,
		escrow: addressOfWord(order.originChainId, escrow),
		amount: BigInt(amount),
		...(mandate && { mandate }),
	};
}
