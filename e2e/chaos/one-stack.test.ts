import { describe } from "vitest";
import type { EndedAnyPlan } from "../caller/mixed-swaps.ts";
import { ownEnvironment } from "../own-environment.ts";
import { changedOutcomes } from "./stories/changed-outcomes.ts";
import { kills } from "./stories/kills.ts";
import { solanaPayoutOnce } from "./stories/solana-payout-once.ts";

/** Starting a stack costs as much as a story, so stories that need nothing special of it share one, in turn. */
const environmentOf = ownEnvironment();
/** The facts that the chains must contain exactly, from all stories so far. */
const ended: EndedAnyPlan[] = [];

describe("processes that are killed", () => kills(environmentOf, ended));
describe("payouts on Solana", () => solanaPayoutOnce(environmentOf, ended));
describe("prices, inventory and recipients that change", () => changedOutcomes(environmentOf));
