import { bytesToHex } from "viem";
import type { Database } from "../database/database.ts";
import { isAnyDue } from "../swap/due/due-swaps.ts";

export type OpenWork = {
	/** True if a round has something to do. */
	isDue: boolean;
	/** True if jobs wait for any lane of the chain. */
	hasQueued: boolean;
	hasUnattested: boolean;
	/** The relayers with a transaction that is not mined, in lower case. */
	relayers: Set<string>;
};

/** Reads which work of this chain is not done yet, and whether swaps are due. */
export async function readOpenWork(db: Database, chainId: number): Promise<OpenWork> {
	const { rows } = await db.query<{
		is_due: boolean;
		queued: boolean;
		unattested: boolean;
		relayers: Buffer[];
	}>(
		`select ${isAnyDue} as is_due, exists (select from jobs where chain_id = $1 and state = 'queued') as queued,
			exists (select from jobs where chain_id = $1 and state = 'unattested') as unattested,
			array(select distinct relayer from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast')) as relayers`,
		[chainId],
	);
	const [row] = rows;
	return {
		isDue: row?.is_due ?? false,
		hasQueued: row?.queued ?? false,
		hasUnattested: row?.unattested ?? false,
		relayers: new Set(row?.relayers.map((relayer) => bytesToHex(relayer))),
	};
}
