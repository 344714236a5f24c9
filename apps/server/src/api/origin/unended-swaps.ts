import { type Milliseconds, type SwapId, type SwapUuid, toSwapId, toWord } from "@geoswap/protocol";
import type { Address } from "viem";
import type { Database } from "../../database/database.ts";
import { recentSwapIds } from "../../swap/record/recent-swap-ids.ts";

/**
 * Returns whether a wallet has swaps from a chain that have not ended: those of the account, by their ids, and whether
 * there is one of anybody that is not open yet. That one needs the wallet's delegation.
 */
export async function unendedSwaps(
	db: Database,
	{
		accountId,
		chainId,
		wallet,
		nowMs,
	}: { accountId: string; chainId: number; wallet: Address; nowMs: Milliseconds },
): Promise<{ own: SwapId[]; hasUnopened: boolean }> {
	const [first, last] = recentSwapIds(nowMs);
	const { rows } = await db.query<{ own: SwapUuid[]; has_unopened: boolean }>(
		`select array(
				select id from swaps where account_id = $1 and order_terms->>'wallet' = $2 and status = 'pending'
					and order_terms->>'originChainId' = $3 order by id desc limit 10
			) as own, exists (
				select from swaps where order_terms->>'wallet' = $2 and status = 'pending' and stage = 'opening'
					and id between $4 and $5 and order_terms->>'originChainId' = $3
			) as has_unopened`,
		[accountId, toWord(wallet), String(chainId), first, last],
	);
	const [row] = rows;
	return { own: (row?.own ?? []).map(toSwapId), hasUnopened: row?.has_unopened ?? false };
}
