import type { Database } from "../../src/database/database.ts";

/**
 * Gives every token that the vaults hold the price of one USD, as workers do that read feeds. Without a price, the audit
 * finds the days of the token.
 */
export async function markPrices(db: Database): Promise<void> {
	await db.query(
		`insert into price_marks (chain_id, token, block_number, usd_e18)
		select chain_id, token, 0, 1000000000000000000 from inventory on conflict do nothing`,
	);
}
