import { solanaChainId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";

/** An account of ours that orders name, as 32 bytes of hex, and the number of unfinished swaps that name it. */
export type NamedSolanaAccount = { role: "escrow" | "vault"; word: Hex; swaps: number };

/**
 * Returns the programs and vaults on Solana that orders of unfinished swaps name, with the number of swaps of each. The
 * service must keep them in its deployment: it signs for no others.
 */
export async function readNamedSolanaAccounts(db: Database): Promise<NamedSolanaAccount[]> {
	const { rows } = await db.query<NamedSolanaAccount>(
		`select role, lower(word) as word, count(distinct s.id)::int as swaps
		from swaps s cross join lateral (values
			('escrow', s.order_terms->>'originChainId', s.order_terms->>'escrow'),
			('vault', s.order_terms->>'originChainId', s.order_terms->>'originVault'),
			('vault', s.order_terms->>'destinationChainId', s.order_terms->>'destinationVault')
		) as named (role, chain_id, word)
		where s.ended_at is null and named.chain_id = $1
		group by role, lower(word) order by role, lower(word)`,
		[String(solanaChainId)],
	);
	return rows;
}
