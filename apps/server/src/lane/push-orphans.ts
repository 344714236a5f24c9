import { type SwapUuid, toSolanaWord } from "@geoswap/protocol";
import type { ChainHead } from "../store/facts.ts";
import { readOrphanLanes } from "../store/lane-transactions.ts";
import { refuseOrphanOpens } from "../store/refuse-orphan-opens.ts";
import { pushSolanaTransactions } from "./push-solana-transactions.ts";
import type { SolanaLane } from "./solana-lane.ts";

/**
 * The same for what fee payers left behind that are in the deployment no more: what they signed is sent, and given up,
 * without their keys. Any lane does it.
 */
export async function pushOrphans(lane: SolanaLane, head: ChainHead): Promise<SwapUuid[]> {
	const { id, keys, pool, log } = lane;
	const { chainId } = id;
	const feePayers = keys.feePayers.map(({ address }) => address);
	const [refused, orphans] = await Promise.all([
		refuseOrphanOpens(pool, { chainId, feePayers, finalizedHeight: head.finalizedHeight }),
		readOrphanLanes(pool, { chainId, relayers: feePayers.map(toSolanaWord) }),
	]);
	if (refused.length > 0) {
		// This store never sent them. One from before it was restored may have, under a name that only that key makes.
		log.error(
			{ chainId, swapIds: refused },
			"their fee payer is gone: the swaps fail, and nobody has looked for deposits of theirs",
		);
	}
	const lost = await Promise.all(
		orphans.map((orphan) => pushSolanaTransactions({ ...lane, id: orphan }, head)),
	);
	return [...refused, ...lost.flat()];
}
