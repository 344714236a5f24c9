import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "./database.ts";

/** Records that the database was restored from a backup: what was written between the backup and now is lost. */
export async function noteRestore(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<void> {
	await db.query("insert into restores (at) values ($1) on conflict do nothing", [new Date(nowMs)]);
}

/** Returns whether something that was written at that moment, or later, may be lost. */
export async function wasRestoredSince(db: Database, sinceMs: Milliseconds): Promise<boolean> {
	const { rows } = await db.query<{ was_restored: boolean }>({
		name: "was-restored-since",
		text: "select exists (select from restores where at >= $1) as was_restored",
		values: [new Date(sinceMs)],
	});
	return rows[0]?.was_restored ?? false;
}
