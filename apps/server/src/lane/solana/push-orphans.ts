import { type SolanaAddress, type SwapUuid, toSolanaWord } from "@geoswap/protocol";
import { bytesToHex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { type LaneId, openLaneTransactions } from "../../job/journal/lane-transactions.ts";
import { markListed } from "../../swap/due/mark-swaps.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import { pushSolanaTransactions } from "./push-solana-transactions.ts";
import type { SolanaLane } from "./solana-lane.ts";

/**
 * Pushes the transactions of fee payers that are no longer in the deployment. They are sent, and given up, without
 * those keys. Any lane does it. Returns the swaps whose jobs changed.
 */
export async function pushOrphans(lane: SolanaLane, head: ChainHead): Promise<SwapUuid[]> {
	const { id, keys, pool, log } = lane;
	const { chainId } = id;
	const feePayers = keys.feePayers.map(({ address }) => address);
	const place = { chainId, feePayers, finalizedHeight: head.finalizedHeight };
	const { lanes, hasDeadOpens } = await readOrphans(pool, place);
	const refused = hasDeadOpens ? await refuseDeadOpens(pool, place) : [];
	if (refused.length > 0) {
		// This store never sent them. The store before a restore may have, with a signature that only that key can make.
		log.error(
			{ chainId, swapIds: refused },
			"swaps fail because their fee payer is gone; look for their deposits",
		);
	}
	const lost = await Promise.all(
		lanes.map(async (orphan) => {
			const open = await openLaneTransactions(pool, orphan);
			return pushSolanaTransactions({ ...lane, id: orphan }, { open, head });
		}),
	);
	return [...refused, ...lost.flat().flatMap(({ jobs }) => jobs.map(({ swapId }) => swapId))];
}

type Place = { chainId: number; feePayers: readonly SolanaAddress[]; finalizedHeight: number };

/** The work left behind by fee payers that are no longer in the deployment. */
type Orphans = {
	/** Their lanes that have transactions which are in no block. */
	lanes: LaneId[];
	/** True if expired ops wait for them, which can no longer land. */
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
 * Refuses expired ops that wait for a removed fee payer, because no process can sign them. Makes their swaps due and
 * returns those.
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

/** The API may write anything into these ops. One without a fee payer or a height can never land. */
const selectDeadOpens = `select swap_id from jobs where chain_id = $1 and state = 'queued' and kind = 'open'
	and coalesce(payload->'op'->>'feePayer' <> all($2), true)
	and case when ${lastValidHeight} ~ '^[0-9]{1,18}$' then (${lastValidHeight})::bigint < $3 else true end`;
