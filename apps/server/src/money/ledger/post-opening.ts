import type { Amount } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";
import { type Posting, post } from "./post.ts";

/** Posts the balances with which the books of a chain begin. */
export function postOpening(
	db: Database,
	{
		chainId,
		blockNumber,
		balances,
	}: {
		chainId: number;
		blockNumber: number;
		balances: readonly { account: "inventory" | "escrow"; token: Hex; amount: Amount }[];
	},
): Promise<Posting[]> {
	return post(db, [
		{
			key: openingKey(chainId),
			chainId,
			blockNumber,
			name: "opening",
			orderId: undefined,
			entries: balances
				.filter(({ amount }) => amount > 0n)
				.flatMap((balance) => [
					balance,
					{ ...balance, account: "opening" as const, amount: -balance.amount },
				]),
		},
	]);
}

/** Returns the last block that is included in the opening balances. */
export async function readOpeningNumber(db: Database, chainId: number): Promise<number> {
	const { rows } = await db.query<{ block_number: number }>(
		"select block_number from postings where key = $1",
		[openingKey(chainId)],
	);
	return rows[0]?.block_number ?? 0;
}

function openingKey(chainId: number): string {
	return `${chainId}:opening`;
}
