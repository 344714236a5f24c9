import type { Meter } from "./meter.ts";

/** The address of a swap that the deny list is consulted about. */
const parties = ["wallet", "recipient"] as const;
export type Party = (typeof parties)[number];

/** The steps of a swap at which the deny list is consulted. */
const places = ["quote", "submit", "fill"] as const;
export type DenyPlace = (typeof places)[number];

const outcomes = ["ok", "failed"] as const;

export type DenyMetrics = {
	/** Counts a quote, a submit or a fill that the deny list refused. */
	refused: (place: DenyPlace, party: Party) => void;
	/** Counts a reading of the list's file, or a request to its service. */
	lookedUp: (outcome: (typeof outcomes)[number]) => void;
};

export function denyMetrics(meter: Meter): DenyMetrics {
	const countRefusal = meter.counter(
		"geoswap_deny_refusals_total",
		"Quotes, submits and fills that the operator's deny list refused, by the address that is on it",
		places.flatMap((at) => parties.map((party) => ({ at, party }))),
	);
	const countLookup = meter.counter(
		"geoswap_deny_lookups_total",
		"Readings of the deny list's file and requests to its service: ok, or failed",
		outcomes.map((outcome) => ({ outcome })),
	);
	return {
		refused: (at, party) => countRefusal({ at, party }),
		lookedUp: (outcome) => countLookup({ outcome }),
	};
}
