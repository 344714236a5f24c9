import type { Amount } from "@geoswap/protocol";
import { type Address, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** The vault's balance of a token, and how much of it may leave. */
export type StockBalance = { token: Address; balance: bigint; outflowAvailable: Amount };

/** Writes the vault's balances. The reserved amounts stay as they are. */
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
