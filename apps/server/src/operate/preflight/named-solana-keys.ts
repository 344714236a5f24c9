import { solanaChainId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";

/** An address of ours that orders contain, as 32 bytes of hex, and the number of unfinished swaps that need it. */
export type NamedSolanaKey = { role: "escrow" | "vault"; key: Hex; swaps: number };

/**
 * Returns the Solana escrow and vault addresses that orders of unfinished swaps name, and the number of swaps per
 * address. The service must keep these keys: without them, nobody could sign for those orders.
 */
export async function readNamedSolanaKeys(db: Database): Promise<NamedSolanaKey[]> {
	const { rows } = await db.query<NamedSolanaKey>(
		`select role, lower(key) as key, count(distinct s.id)::int as swaps
		from swaps s cross join lateral (values
			('escrow', s.order_terms->>'originChainId', s.order_terms->>'escrow'),
			('vault', s.order_terms->>'originChainId', s.order_terms->>'originVault'),
			('vault', s.order_terms->>'destinationChainId', s.order_terms->>'destinationVault')
		) as named (role, chain_id, key)
		where s.ended_at is null and named.chain_id = $1
		group by role, lower(key) order by role, lower(key)`,
		[String(solanaChainId)],
	);
	return rows;
}
