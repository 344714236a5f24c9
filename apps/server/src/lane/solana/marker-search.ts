import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../swap/facts/job.ts";

/**
 * Limit of the signatures that are read from the journal, far above the usual number for one order. A transaction
 * beyond it is still found: the search goes on with the transactions that the chain lists for the marker's address.
 */
const signatureLimit = 20;

/**
 * The state of a search for the transaction that created an order's marker. The marker is an account on Solana that
 * exists once the order is decided, for example filled or refunded, so that it cannot be decided twice.
 */
export type MarkerSearch = {
	/**
	 * Signatures from the journal, newest first. The journal is the table of all transactions that our lanes, which send
	 * transactions for the service, have signed.
	 */
	journalled: Hex[];
	/** Cursor: the search continues with transactions older than this one; undefined to begin with the newest. */
	before: Hex | undefined;
};

/** Returns the order's journalled signatures, and the cursor that the last search of the job saved. */
export async function readMarkerSearch(
	db: Database,
	{ swapId, kind, chainId, orderId }: Job,
): Promise<MarkerSearch> {
	// An open only deposits the input in the escrow. It creates no marker.
	const { rows: journalled } = await db.query<{ hash: Buffer }>(
		`select hash from lane_transactions
		where chain_id = $1 and kind <> 'open' and jobs @> jsonb_build_array(jsonb_build_object('orderId', $2::text))
		order by created_at desc, hash limit $3`,
		[chainId, orderId, signatureLimit],
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

/** Saves the cursor of the next search; undefined to begin with the newest transaction again. */
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
