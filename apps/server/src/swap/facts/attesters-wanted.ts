import type { Address } from "viem";

export type AttestersWanted = {
	attesters: readonly Address[];
	/** The chains that they must see. */
	chainIds: readonly number[];
	/** How old a heartbeat may be. */
	heartbeatSeconds: number;
	/** How far behind ours what they see as final may be. */
	sightSeconds: number;
};
