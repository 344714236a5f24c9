import { type Address, bytesToHex } from "viem";
import type { Database } from "../../database/database.ts";
import { isInNoBlock } from "../../job/journal/lane-transactions.ts";

/** Returns the lowest nonce of each relayer that has a transaction on its way, none of whose attempts is in a block. */
export async function readOpenNonces(
	db: Database,
	chainId: number,
): Promise<{ relayer: Address; nonce: number }[]> {
	const { rows } = await db.query<{ relayer: Buffer; nonce: number }>(
		`select relayer, min(nonce)::float8 as nonce from lane_transactions as open
			where chain_id = $1 and state in ('signed', 'broadcast') and ${isInNoBlock} group by relayer`,
		[chainId],
	);
	return rows.map(({ relayer, nonce }) => ({ relayer: bytesToHex(relayer), nonce }));
}
