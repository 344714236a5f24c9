import type pg from "pg";
import { type Hex, hexToBytes } from "viem";

/** Writes transactions down as a lane does before it sends them. */
export async function noteSigned(
	pool: pg.Pool,
	transactions: readonly { chainId: number; hash: Hex }[],
): Promise<void> {
	for (const { chainId, hash } of transactions) {
		// Each transaction gets its own relayer, because nonces do not matter here.
		await pool.query(
			`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
				sent_at_block)
			values ($1, $2, 0, 1, $2, '', 'fill', '[]', 1, 'final', 1) on conflict do nothing`,
			[chainId, hexToBytes(hash)],
		);
	}
}
