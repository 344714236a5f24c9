import type { Seconds } from "@geoswap/protocol";
import type { Address } from "viem";

export type AttestersWanted = {
	attesters: readonly Address[];
	/** The chains of which each attester must have recent heartbeats. */
	chainIds: readonly number[];
	/** Maximum age of a heartbeat. */
	heartbeatSeconds: Seconds;
	/** Seconds that the final block in their heartbeats may be behind the follower's. */
	sightSeconds: Seconds;
};
