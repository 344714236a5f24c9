import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Milliseconds } from "@geoswap/protocol";
import { type Database, type DatabasePool, inTransaction } from "./database.ts";
import { type DatabaseRoles, grantRoles } from "./roles/grant-roles.ts";

const folder = join(import.meta.dirname, "migrations");
/** Any number that is not used for another lock in the database. */
const lockId = 7_461_001;

/** The database was not made by this program's migrations. The message states what to do. */
export class SchemaError extends Error {
	override name = "SchemaError";
}

/**
 * Brings the schema, the roles and their rights up to date, all or nothing. If several processes try concurrently,
 * one does it. Returns the names of the migrations that it applied. Throws a SchemaError if the schema is not one of
 * this program's.
 */
export function migrate(pool: DatabasePool, { roles }: { roles: DatabaseRoles }): Promise<string[]> {
	return inTransaction(pool, async (db) => {
		await db.query("select pg_advisory_xact_lock($1)", [lockId]);
		await db.query(
			`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now());
			alter table migrations add column if not exists hash text`,
		);
		const missing = await missingMigrations(db);
		for (const { name, sql, hash } of ownMigrations()) {
			if (missing.includes(name)) {
				await db.query(sql);
				await db.query("insert into migrations (name, hash) values ($1, $2)", [name, hash]);
			} else {
				// The migration was applied by a version that kept no hashes.
				await db.query("update migrations set hash = $2 where name = $1 and hash is null", [name, hash]);
			}
		}
		await grantRoles(db, roles);
		return missing;
	});
}

/** Throws a SchemaError unless the schema is the one that this program was written for. */
export async function expectSchema(db: Database): Promise<void> {
	const { rows } = await db.query<{ isNew: boolean }>(`select to_regclass('migrations') is null as "isNew"`);
	const missing = rows[0]?.isNew ? ownMigrations().map(({ name }) => name) : await missingMigrations(db);
	if (missing.length > 0)
		throw new SchemaError(`lacks the migrations ${missing.join(", ")}; run geoswapd migrate`);
}

/** Throws a SchemaError if a migration was applied that this program does not have, or has changed since. */
async function missingMigrations(db: Database): Promise<string[]> {
	// Before the first migration of this version, the column for hashes does not exist.
	const { rows } = await db.query<{ name: string; hash: string | null }>(
		"select name, to_jsonb(m)->>'hash' as hash from migrations m order by name",
	);
	const own = ownMigrations();
	for (const { name, hash } of rows) {
		const known = own.find((migration) => migration.name === name);
		if (!known) {
			throw new SchemaError(
				`has the migration ${name}, which this version does not have; run a newer version`,
			);
		}
		if (hash !== null && hash !== known.hash) {
			throw new SchemaError(
				`has another version of the migration ${name} than this program; restore the file as it was applied, and make the change in a new migration`,
			);
		}
	}
	const applied = new Set(rows.map((row) => row.name));
	return own.map(({ name }) => name).filter((name) => !applied.has(name));
}

function ownMigrations(): { name: string; sql: string; hash: string }[] {
	return readdirSync(folder)
		.filter((name) => name.endsWith(".sql"))
		.sort()
		.map((name) => {
			const sql = readFileSync(join(folder, name), "utf8");
			return { name, sql, hash: createHash("sha256").update(sql).digest("hex") };
		});
}

const dayMs = 86_400_000;
const tables = ["swaps", "swap_events"] as const;

/**
 * Creates a partition for each day from yesterday to `daysAhead` from now, if there is none. An id is made at quote
 * time, so a day's partition is needed from its first millisecond on. A week is enough for a worker that is down over a
 * weekend.
 */
export async function ensurePartitions(
	db: Database,
	{ nowMs, daysAhead = 7 }: { nowMs: Milliseconds; daysAhead?: number },
): Promise<void> {
	const today = Math.floor(nowMs / dayMs);
	for (let day = today - 1; day <= today + daysAhead; day++) {
		const date = new Date(day * dayMs).toISOString().slice(0, 10);
		// Each partition gets a separate transaction, because creating one locks its whole table until the transaction
		// ends.
		for (const table of tables) await db.query("select ensure_partition($1, $2)", [table, date]);
	}
}
