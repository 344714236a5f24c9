import type { Amount } from "@geoswap/protocol";
import { type Address, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** The vault's balance of a token, at one block. */
export type StockBalance = {
	token: Address;
	balance: bigint;
	/** The most that may leave the vault now, under its hourly cap for the token. */
	outflowAvailable: Amount;
};

/**
 * Writes the vault's balances. Leaves the column `reserved` as it is: it counts what is promised to swaps, and submits
 * and rounds write it. Block numbers are not compared, because after a reorg the newer reading can have the lower one.
 * The caller has locked the chain's head and moved it on, so readings are written in the order of the chain's heads. A
 * Solana endpoint may still answer from a node that is behind; lanes read the vault again before they pay.
 */
export async function saveStock(
	db: Database,
	{ chainId, blockNumber, stock }: { chainId: number; blockNumber: number; stock: readonly StockBalance[] },
): Promise<void> {
	await db.query(
		`insert into stock (chain_id, block_number, token, balance, outflow_available)
		select $1, $2, * from unnest($3::bytea[], $4::numeric[], $5::numeric[])
			as held (token, balance, outflow_available) order by token
		on conflict (chain_id, token) do update set block_number = excluded.block_number,
			balance = excluded.balance, outflow_available = excluded.outflow_available`,
		[
			chainId,
			blockNumber,
			stock.map(({ token }) => hexToBytes(token)),
			stock.map(({ balance }) => balance),
			stock.map(({ outflowAvailable }) => outflowAvailable),
		],
	);
}
