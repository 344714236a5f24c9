import type { Verdict } from "../verdict.ts";

/** In slots: until whoever follows the chain, or a node that is behind, has seen more of it. */
const laterSlots = 10;

/** Nothing speaks against the job but the moment. */
export const later: Extract<Verdict, { do: "postpone" }> = { do: "postpone", blocks: laterSlots };
