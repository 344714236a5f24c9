import type { Follower } from "../keep-following.ts";
import { advanceSolana, type FollowingSolana } from "./advance-solana.ts";
import { isWatchNeeded } from "./watched-transactions.ts";

/** Returns the follower of Solana. */
export function solanaFollower(following: FollowingSolana): Follower {
	const { pool, chain } = following;
	return () => async () => {
		// Most of the time nobody waits for the chain, so it need not be read a few times a second.
		if (await isWatchNeeded(pool, chain.chainId)) await advanceSolana(following);
		// Each call takes in all there is.
		return false;
	};
}
