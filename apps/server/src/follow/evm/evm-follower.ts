import type { Follower } from "../keep-following.ts";
import { advance, type Following } from "./advance.ts";

/** Returns the follower of an EVM chain. */
export function evmFollower(following: Following): Follower {
	return () => {
		const taken = {};
		return () => advance({ ...following, taken });
	};
}
