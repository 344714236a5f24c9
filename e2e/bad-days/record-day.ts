import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LivedDay } from "./bad-day.ts";

const recordFile = join(import.meta.dirname, "record.json");
export const pageFile = join(import.meta.dirname, "../../docs/bad-days.md");

/** Returns the days that were recorded last, each once, by name. */
export function readRecord(): LivedDay[] {
	return existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : [];
}

/** Prints the measurements of a day, and keeps them for docs/bad-days.md if GEOSWAP_RECORD is set. */
export function recordDay(day: LivedDay): void {
	console.log(JSON.stringify(day));
	if (!process.env.GEOSWAP_RECORD) return;
	const others = readRecord().filter(({ name }) => name !== day.name);
	const days = [...others, day].toSorted((one, other) => one.name.localeCompare(other.name));
	writeFileSync(recordFile, `${JSON.stringify(days, null, "\t")}\n`);
}
