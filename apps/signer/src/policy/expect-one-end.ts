import type { Decision } from "./judgement.ts";
import { refuse } from "./refusal.ts";

/** Whether an order can still be delivered. `why` states why it is not known to be closed. */
export type Closing = { isClosed: true } | { isClosed: false; why: string };

/**
 * Refuses a payload that decides an order differently from a payload that is already signed. A deposit must not prove
 * both that its order may be delivered and that it may be given back. The same decision may be signed again, because a
 * transaction may be replaced, or get a new blockhash.
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
		// The refusal is temporary, because a signed delivery may never land.
		if (before.end === "delivery" && !closing?.isClosed)
			refuse("unproven", `a delivery of the order is signed${closing ? `: ${closing.why}` : ""}`);
	}
}
