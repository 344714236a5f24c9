import type { PreparedPoke } from "../durable/durable.ts";

/** The pokes that tell whoever works for a chain of new work. Empty if nobody does. */
export type ChainPoke = (options: { chainId: number; nowMs: number }) => PreparedPoke[];
