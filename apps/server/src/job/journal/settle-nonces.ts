import { bytesToHex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { GasSpent } from "../../money/ledger/book-final.ts";

/** Ends all attempts of each nonce with a final transaction, because no other can be mined. Returns the gas costs. */
export async function settleNonces(
	db: Database,
	{ chainId, finalizedNumber }: { chainId: number; finalizedNumber: number },
): Promise<GasSpent[]> {
	const { rows } = await db.query<Row<"lane_transactions", "hash" | "block_number" | "gas_cost">>(
		`update lane_transactions t set state = 'final' from lane_transactions m
		where m.chain_id = $1 and m.state = 'mined' and m.block_number <= $2
			and t.chain_id = m.chain_id and t.relayer = m.relayer and t.nonce = m.nonce
		returning t.hash, t.block_number, t.gas_cost`,
		[chainId, finalizedNumber],
	);
	return rows.flatMap(({ hash, block_number, gas_cost }) =>
		block_number === null || gas_cost === null
			? []
			: [{ hash: bytesToHex(hash), blockNumber: block_number, gasCost: gas_cost }],
	);
}
