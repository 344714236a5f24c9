import type { Address } from "viem";
import type { Database } from "../database.ts";
import { post } from "./post.ts";

/** The balances with which the books of a chain begin. */
export function postOpening(
	db: Database,
	{
		chainId,
		blockNumber,
		balances,
	}: {
		chainId: number;
		blockNumber: number;
		balances: readonly { account: "stock" | "escrow"; token: Address; amount: bigint }[];
	},
): Promise<void> {
	return post(db, [
		{
			key: `${chainId}:opening`,
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
