import { type SolanaAddress, type SwapUuid, toSolanaWord } from "@geoswap/protocol";
import { bytesToHex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { LaneId } from "../../job/journal/lane-transactions.ts";
import { markListed } from "../../swap/due/mark-swaps.ts";

type Place = { chainId: number; feePayers: readonly SolanaAddress[]; finalizedHeight: number };

/** What fee payers left behind that are in the deployment no more. */
export type Orphans = {
	/** Their lanes that have transactions in no block. */
	lanes: LaneId[];
	/** Whether ops wait for them that can land no more. */
	hasDeadOpens: boolean;
};

export async function readOrphans(
	db: Database,
	{ chainId, feePayers, finalizedHeight }: Place,
): Promise<Orphans> {
	const { rows } = await db.query<{ relayers: Uint8Array[]; has_dead_opens: boolean }>(
		`select array(
				select distinct relayer from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($4::bytea[])
			) as relayers, exists (${selectDeadOpens}) as has_dead_opens`,
		[chainId, feePayers, finalizedHeight, feePayers.map((feePayer) => hexToBytes(toSolanaWord(feePayer)))],
	);
	const [row] = rows;
	return {
		lanes: row?.relayers.map((relayer) => ({ chainId, relayer: bytesToHex(relayer) })) ?? [],
		hasDeadOpens: row?.has_dead_opens ?? false,
	};
}

/**
 * Refuses ops that wait for a fee payer that is no more, and can land no more: nobody can sign for them. Makes their swaps
 * due and returns them.
 */
export async function refuseDeadOpens(
	db: Database,
	{ chainId, feePayers, finalizedHeight }: Place,
): Promise<SwapUuid[]> {
	const { rows } = await db.query<{ swap_id: SwapUuid }>(
		`with refused as (
			update jobs set state = 'refused', reason = 'expired', lease = null, leased_until = null, updated_at = now()
			where kind = 'open' and swap_id in (${selectDeadOpens} for update skip locked) returning swap_id
		), ${markListed("select swap_id from refused")}
		select swap_id from refused`,
		[chainId, feePayers, finalizedHeight],
	);
	return rows.map((row) => row.swap_id);
}

const lastValidHeight = "payload->'op'->>'lastValidBlockHeight'";

/** The API has these ops written as it likes: one without a fee payer or a height can never land. */
const selectDeadOpens = `select swap_id from jobs where chain_id = $1 and state = 'queued' and kind = 'open'
	and coalesce(payload->'op'->>'feePayer' <> all($2), true)
	and case when ${lastValidHeight} ~ '^[0-9]{1,18}$' then (${lastValidHeight})::bigint < $3 else true end`;
