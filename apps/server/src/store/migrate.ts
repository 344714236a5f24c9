import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DatabasePool, inTransaction } from "./database.ts";

const folder = join(import.meta.dirname, "migrations");
/** Any number that nothing else in the database locks. */
const lockId = 7_461_001;

/** Brings the schema up to date. Several processes may try at once: one does it. Returns what was applied. */
export function migrate(pool: DatabasePool): Promise<string[]> {
	return inTransaction(pool, async (db) => {
		await db.query("select pg_advisory_xact_lock($1)", [lockId]);
		await db.query(
			"create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
		);
		const { rows } = await db.query<{ name: string }>("select name from migrations");
		const applied = new Set(rows.map((row) => row.name));
		const missing = readdirSync(folder)
			.filter((name) => name.endsWith(".sql") && !applied.has(name))
			.sort();
		for (const name of missing) {
			await db.query(readFileSync(join(folder, name), "utf8"));
			await db.query("insert into migrations (name) values ($1)", [name]);
		}
		return missing;
	});
}
