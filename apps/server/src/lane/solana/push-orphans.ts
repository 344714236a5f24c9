import type { SwapUuid } from "@geoswap/protocol";
import { openLaneTransactions } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import { readOrphans, refuseDeadOpens } from "./orphans.ts";
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
