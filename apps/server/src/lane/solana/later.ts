import type { Verdict } from "../verdict.ts";

/** Slots after which the follower, or a node that is behind, has seen more of the chain. */
const laterSlots = 10;

/** The verdict on a job that cannot be signed at the moment, but may be later. */
export const later: Extract<Verdict, { do: "postpone" }> = { do: "postpone", blocks: laterSlots };
