import type { Amount, UsdCents } from "@geoswap/protocol";
import type { Hex } from "viem";

type Flow = { chainId: number; token: Hex; amount: Amount };

/** What a swap takes from its destination's vault, and what it brings to that of its origin. */
export type SwapFlows = { taken: Flow; brought: Flow };

/** Records in memory what callers want of the inventory. No call fails or waits. */
export type DemandLog = {
	/** Adds to the volume that an account had quoted. */
	quoted(quote: { accountId: string; valueUsdCents: UsdCents }): void;
	/** Adds a request that was refused because a vault had too little room. */
	refused(request: SwapFlows & { accountId: string; valueUsdCents: UsdCents }): void;
	/** Adds a swap that was submitted. */
	served(swap: SwapFlows): void;
};
