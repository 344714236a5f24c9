import type { Milliseconds } from "@geoswap/protocol";
import type { PreparedPoke } from "../durable/engine.ts";

/** Returns the pokes that notify a chain's lanes or attesters of new work. Empty if it has none. */
export type ChainPoke = (options: { chainId: number; nowMs: Milliseconds }) => PreparedPoke[];
