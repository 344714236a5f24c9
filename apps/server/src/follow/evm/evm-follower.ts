import type { Milliseconds } from "@geoswap/protocol";
import type { Hash } from "viem";
import type { Follower } from "../keep-following.ts";
import { advance, type Following } from "./advance.ts";

/** Returns the follower of an EVM chain. */
export function evmFollower(following: Following): Follower {
	// A failure ends the leadership, and how long a block has failed must outlive that.
	const failing = new Map<Hash, Milliseconds>();
	return () => {
		const memory = { failing };
		return () => advance({ ...following, memory });
	};
}
