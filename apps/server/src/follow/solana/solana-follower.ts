import type { Follower } from "../keep-following.ts";
import { advanceSolana, type FollowingSolana } from "./advance-solana.ts";
import { isWatchNeeded } from "./watched-transactions.ts";

/** Returns the follower of Solana. */
export function solanaFollower(following: FollowingSolana): Follower {
	const { pool, chain } = following;
	return () => {
		const memory = {};
		return async () => {
			// Most of the time no swap waits for the chain, so that it need not be read a few times a second.
			if (await isWatchNeeded(pool, chain.chainId)) await advanceSolana({ ...following, memory });
			// Each call reads all new slots, so there is never more to do immediately.
			return false;
		};
	};
}
