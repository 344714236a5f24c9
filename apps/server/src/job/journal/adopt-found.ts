import type { SwapUuid } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { JobKind } from "../../swap/facts/job.ts";
import { raiseNonce } from "./lane-transactions.ts";

/** A transaction that one of our relayers paid for, and that was found on the chain. Its bytes are not known. */
export type FoundTransaction = {
	hash: Hex;
	relayer: Hex;
	/** Absent if it returned rents. */
	job?: { swapId: SwapUuid; kind: JobKind; orderId: Hex } | undefined;
};

/** Adds found transactions to the journal, so that their fees are booked. Known ones stay as they are. */
export async function adoptFound(
	db: Database,
	{ chainId, found }: { chainId: number; found: readonly FoundTransaction[] },
): Promise<void> {
	for (const { hash, relayer, job } of found) {
		await raiseNonce(db, { chainId, relayer }, 0);
		await db.query(
			`with lane as (
				update lanes set next_nonce = next_nonce + 1 where chain_id = $1 and relayer = $2 and not exists (
					select from lane_transactions where chain_id = $1 and hash = $3
				) returning next_nonce - 1 as nonce
			)
			insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state)
			select $1, $2, nonce, 0, $3, '', $4, $5, 0, 'broadcast' from lane`,
			[
				chainId,
				hexToBytes(relayer),
				hexToBytes(hash),
				job?.kind ?? "close",
				JSON.stringify(job ? [job] : []),
			],
		);
	}
}
