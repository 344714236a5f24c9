import { type Address, bytesToHex } from "viem";
import type { Database } from "../../database/database.ts";

/** Returns the lowest nonce of each relayer that has a transaction on its way. */
export async function readOpenNonces(
	db: Database,
	chainId: number,
): Promise<{ relayer: Address; nonce: number }[]> {
	const { rows } = await db.query<{ relayer: Buffer; nonce: number }>(
		`select relayer, min(nonce)::float8 as nonce from lane_transactions
			where chain_id = $1 and state in ('signed', 'broadcast') group by relayer`,
		[chainId],
	);
	return rows.map(({ relayer, nonce }) => ({ relayer: bytesToHex(relayer), nonce }));
}
