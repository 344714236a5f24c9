import type { Amount } from "@geoswap/protocol";
import { type Address, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** The vault's balance of a token, at one block. */
export type InventoryBalance = {
	token: Address;
	balance: bigint;
	/** The maximum that may leave the vault now, under its hourly cap for the token. */
	outflowAvailable: Amount;
};

/**
 * Writes the vault's balances. Leaves the column `reserved` as it is, because it counts what is promised to swaps, and
 * submits and rounds write it. Block numbers are not compared, because after a reorg the newer reading can have the
 * lower one. The caller has locked the chain's head and moved it on, so readings are written in the order of the
 * chain's heads. A Solana endpoint may still answer from a node that is behind; lanes read the vault again before they
 * pay.
 */
export async function saveInventory(
	db: Database,
	{
		chainId,
		blockNumber,
		inventory,
	}: { chainId: number; blockNumber: number; inventory: readonly InventoryBalance[] },
): Promise<void> {
	await db.query(
		`insert into inventory (chain_id, block_number, token, balance, outflow_available)
		select $1, $2, * from unnest($3::bytea[], $4::numeric[], $5::numeric[])
			as held (token, balance, outflow_available) order by token
		on conflict (chain_id, token) do update set block_number = excluded.block_number,
			balance = excluded.balance, outflow_available = excluded.outflow_available`,
		[
			chainId,
			blockNumber,
			inventory.map(({ token }) => hexToBytes(token)),
			inventory.map(({ balance }) => balance),
			inventory.map(({ outflowAvailable }) => outflowAvailable),
		],
	);
}
