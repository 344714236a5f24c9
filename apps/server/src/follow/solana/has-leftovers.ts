import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { isClosable } from "../../job/journal/rents.ts";

/** Returns whether there are rents to fetch, or transactions in no block from relayers other than these. */
export async function hasLeftovers(
	db: Database,
	{ chainId, relayers }: { chainId: number; relayers: readonly Hex[] },
): Promise<boolean> {
	const { rows } = await db.query<{ found: boolean }>(
		`select exists (select from rents where chain_id = $1 and returned_at is null and ${isClosable})
			or exists (select from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($2)) as found`,
		[chainId, relayers.map((relayer) => hexToBytes(relayer))],
	);
	return rows[0]?.found ?? false;
}
