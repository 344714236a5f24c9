import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Database, type DatabasePool, inTransaction } from "./database.ts";

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
		const missing = await missingMigrations(db);
		for (const name of missing) {
			await db.query(readFileSync(join(folder, name), "utf8"));
			await db.query("insert into migrations (name) values ($1)", [name]);
		}
		return missing;
	});
}

/** What `migrate` would apply. */
export async function pendingMigrations(db: Database): Promise<string[]> {
	const { rows } = await db.query<{ isNew: boolean }>(`select to_regclass('migrations') is null as "isNew"`);
	return rows[0]?.isNew ? migrationNames() : missingMigrations(db);
}

async function missingMigrations(db: Database): Promise<string[]> {
	const { rows } = await db.query<{ name: string }>("select name from migrations");
	const applied = new Set(rows.map((row) => row.name));
	return migrationNames().filter((name) => !applied.has(name));
}

function migrationNames(): string[] {
	return readdirSync(folder)
		.filter((name) => name.endsWith(".sql"))
		.sort();
}
