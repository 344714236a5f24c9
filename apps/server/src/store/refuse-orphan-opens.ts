import type { SolanaAddress, SwapUuid } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/**
 * Ops that wait for a fee payer that is no more, and can land no more: nobody can sign for them. Returns their swaps.
 */
export async function refuseOrphanOpens(
	db: Database,
	{
		chainId,
		feePayers,
		finalizedHeight,
	}: { chainId: number; feePayers: readonly SolanaAddress[]; finalizedHeight: number },
): Promise<SwapUuid[]> {
	const { rows } = await db.query<{ swap_id: SwapUuid }>(
		`update jobs set state = 'refused', reason = 'expired', updated_at = now() where kind = 'open' and swap_id in (
			select swap_id from jobs where chain_id = $1 and state = 'queued' and kind = 'open'
				and payload->'op'->>'feePayer' <> all($2) and (payload->'op'->>'lastValidBlockHeight')::bigint < $3
			for update skip locked
		) returning swap_id`,
		[chainId, feePayers, finalizedHeight],
	);
	return rows.map((row) => row.swap_id);
}
