import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import { type Meter, sample } from "../telemetry/meter.ts";

const maxAgeMs = 15_000;

/** Publishes how far this process's clock is from the database's, which all processes share. */
export function watchClock({
	meter,
	db,
	nowMs,
}: {
	meter: Meter;
	db: Database;
	nowMs: () => Milliseconds;
}): void {
	meter.reading({
		name: "clock",
		gauges: {
			geoswap_clock_ahead_of_database_seconds:
				"Time by which this process's clock is ahead of the database's; below 0 if it is behind",
		},
		maxAgeMs,
		read: async () => {
			const askedAtMs = nowMs();
			const { rows } = await db.query<{ seconds: number }>(
				"select extract(epoch from clock_timestamp())::float8 as seconds",
			);
			// The database read its clock at some time between the query and the answer.
			const halfwayMs = (askedAtMs + nowMs()) / 2;
			const [{ seconds } = { seconds: halfwayMs / 1_000 }] = rows;
			return [sample("geoswap_clock_ahead_of_database_seconds", halfwayMs / 1_000 - seconds)];
		},
	});
}
