import { type Address, bytesToHex } from "viem";
import type { Database } from "../../database/database.ts";

/** Returns the lowest nonce of each relayer that has a transaction on its way, none of whose attempts is in a block. */
export async function readOpenNonces(
	db: Database,
	chainId: number,
): Promise<{ relayer: Address; nonce: number }[]> {
	const { rows } = await db.query<{ relayer: Buffer; nonce: number }>(
		`select relayer, min(nonce)::float8 as nonce from lane_transactions as open
			where chain_id = $1 and state in ('signed', 'broadcast') and not exists (
				select from lane_transactions as mined where mined.chain_id = open.chain_id
					and mined.relayer = open.relayer and mined.nonce = open.nonce and mined.state in ('mined', 'final')
			) group by relayer`,
		[chainId],
	);
	return rows.map(({ relayer, nonce }) => ({ relayer: bytesToHex(relayer), nonce }));
}
