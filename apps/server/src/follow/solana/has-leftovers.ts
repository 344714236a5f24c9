import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** Returns whether there are old markers to close, or transactions in no block from relayers other than these. */
export async function hasLeftovers(
	db: Database,
	{ chainId, madeBefore, relayers }: { chainId: number; madeBefore: Date; relayers: readonly Hex[] },
): Promise<boolean> {
	const { rows } = await db.query<{ found: boolean }>(
		`select exists (select from markers where chain_id = $1 and closed_at is null and made_at < $2)
			or exists (select from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($3)) as found`,
		[chainId, madeBefore, relayers.map((relayer) => hexToBytes(relayer))],
	);
	return rows[0]?.found ?? false;
}
