import { type RefusalKind, refusalKinds } from "../database/database.ts";
import type { Meter } from "../telemetry/meter.ts";

/** Returns a function that counts what the database refuses because of its own state. */
export function countRefusals(meter: Meter): (kind: RefusalKind) => void {
	const count = meter.counter(
		"geoswap_database_refusals_total",
		"Statements and connections that the database refused: read-only, full, crowded (too many connections) or stopping",
		refusalKinds.map((kind) => ({ kind })),
	);
	return (kind) => count({ kind });
}
