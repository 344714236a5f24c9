import { keepFollowing } from "../keep-following.ts";
import { advanceSolana, type FollowingSolana } from "./advance-solana.ts";
import { isWatchNeeded } from "./watched-transactions.ts";

/** Follows Solana until the signal is aborted. */
export async function followSolana({
	pollMs,
	onSlot,
	signal,
	...following
}: FollowingSolana & {
	pollMs: number;
	/** Called after something new was taken in. */
	onSlot?: () => void;
	signal: AbortSignal;
}): Promise<void> {
	const { chain, pool, log } = following;
	await keepFollowing({
		chainId: chain.chainId,
		pool,
		follower: () => async () => {
			// Most of the time nobody waits for the chain, so it need not be read a few times a second.
			const isNew = (await isWatchNeeded(pool, chain.chainId)) && (await advanceSolana(following));
			if (isNew) onSlot?.();
			// Each call takes in all there is.
			return false;
		},
		pollMs,
		log,
		signal,
	});
}
