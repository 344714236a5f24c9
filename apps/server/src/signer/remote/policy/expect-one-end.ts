import type { Decision } from "./judgement.ts";
import { refuse } from "./refusal.ts";

/** Whether an order can still be delivered; `why` says why that is not known to be over. */
export type Closing = { isClosed: true } | { isClosed: false; why: string };

/**
 * Refuses a payload that decides an order otherwise than a payload that is signed already. A deposit must not prove that
 * its order may be delivered, and also that it may be given back. The same decision may be signed again: a transaction is
 * replaced, or gets a new blockhash.
 */
export function expectOneEnd(
	next: Decision,
	signed: readonly Decision[],
	/** Undefined if it was not read. */
	closing: Closing | undefined,
): void {
	for (const before of signed) {
		if (next.end !== "return") {
			if (before.end === "return") refuse("contradicts", "it is signed that the order's input goes back");
			continue;
		}
		if (before.end === "release") refuse("contradicts", "it is signed that the order's input is ours");
		// Passing: a delivery that is signed may never land.
		if (before.end === "delivery" && !closing?.isClosed)
			refuse("unproven", `a delivery of the order is signed${closing ? `: ${closing.why}` : ""}`);
	}
}
