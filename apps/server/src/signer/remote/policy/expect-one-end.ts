import type { Decision, DeliveryPlace } from "./judgement.ts";
import { refuse } from "./refusal.ts";

/** Whether an order can still be delivered at a place; `why` says why that is not known to be over. */
export type Closing = { isClosed: true } | { isClosed: false; why: string };

/**
 * Refuses a payload that decides an order otherwise than a payload that is signed already. A deposit must not prove that
 * its order may be delivered, and also that it may be given back. The same decision may be signed again: a transaction is
 * replaced, or gets a new blockhash.
 */
export function expectOneEnd(
	next: Decision,
	signed: readonly Decision[],
	closingOf: (place: DeliveryPlace) => Closing | undefined,
): void {
	for (const before of signed) {
		if (next.end !== "return") {
			if (before.end === "return" && !isAttestedAfterVoid(next, before))
				refuse("contradicts", "it is signed that the order's input goes back");
			continue;
		}
		if (before.end === "release") refuse("contradicts", "it is signed that the order's input is ours");
		if (before.end === "return" && isOtherMarker(next, before))
			refuse("contradicts", "it is signed that the order's input goes back with another marker");
		if (before.end !== "delivery" || isExclusive(next, before)) continue;
		const closing = closingOf(before.place);
		// Passing: a delivery that is signed may never land.
		if (!closing?.isClosed)
			refuse("unproven", `a delivery of the order is signed${closing ? `: ${closing.why}` : ""}`);
	}
}

/** Returns whether both make the same marker, so that the chain lets only one of them happen. */
export function isExclusive({ marker }: Return, { place }: Extract<Decision, { end: "delivery" }>): boolean {
	return marker !== undefined && "marker" in place && place.marker === marker;
}

type Return = Extract<Decision, { end: "return" }>;

/**
 * Returns whether the next payload attests the release of an order whose void on Solana is signed. The attester has read
 * the delivery at finality, so that the void cannot land.
 */
function isAttestedAfterVoid(next: Decision, before: Return): boolean {
	return next.end === "release" && next.marker === undefined && before.marker !== undefined;
}

/** Returns whether both make a marker and not the same one, so that both could happen. An attestation makes none. */
function isOtherMarker(next: Return, before: Return): boolean {
	return next.marker !== undefined && before.marker !== undefined && next.marker !== before.marker;
}
