import { advanceSolana, type FollowingSolana } from "./advance-solana.ts";
import { keepFollowing } from "./keep-following.ts";

/** Follows Solana until the signal is aborted. */
export async function followSolana({
	pollMs,
	onSlot,
	signal,
	...following
}: FollowingSolana & {
	pollMs: number;
	/** After something new was taken in. */
	onSlot?: () => void;
	signal: AbortSignal;
}): Promise<void> {
	const { chain, pool, log } = following;
	await keepFollowing({
		chainId: chain.chainId,
		pool,
		advance: async () => {
			if (await advanceSolana(following)) onSlot?.();
			// Each look takes in all there is.
			return false;
		},
		pollMs,
		log,
		signal,
	});
}
