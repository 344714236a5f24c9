import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../swap/facts/job.ts";

/** More transactions than are ever likely to be signed for one order. */
const mostSignatures = 20;

/** The places to look for the transaction that made the marker of a job's order. */
export type MarkerSearch = {
	/** Signatures of transactions that our lanes signed for the order, newest first. */
	journalled: Hex[];
	/** The oldest transaction at the marker's address that was looked at before. */
	before: Hex | undefined;
};

export async function readMarkerSearch(
	db: Database,
	{ swapId, kind, chainId, orderId }: Job,
): Promise<MarkerSearch> {
	const { rows: journalled } = await db.query<{ hash: Buffer }>(
		`select hash from lane_transactions
		where chain_id = $1 and kind <> 'open' and jobs @> jsonb_build_array(jsonb_build_object('orderId', $2::text))
		order by created_at desc, hash limit $3`,
		[chainId, orderId, mostSignatures],
	);
	const { rows } = await db.query<{ before: Buffer | null }>(
		"select marker_search_before as before from jobs where swap_id = $1 and kind = $2",
		[swapId, kind],
	);
	const before = rows[0]?.before;
	return {
		journalled: journalled.map(({ hash }) => bytesToHex(hash)),
		before: before ? bytesToHex(before) : undefined,
	};
}

/** Saves where the next search continues; undefined to begin with the newest transaction again. */
export async function saveMarkerSearch(
	db: Database,
	{ swapId, kind }: Job,
	before: Hex | undefined,
): Promise<void> {
	await db.query("update jobs set marker_search_before = $3 where swap_id = $1 and kind = $2", [
		swapId,
		kind,
		before ? hexToBytes(before) : null,
	]);
}
