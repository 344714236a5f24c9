import { type DatabasePool, inTransaction } from "../../src/database/database.ts";

/** Backs up the whole database, and replaces the previous backup. */
export async function takeBackup(pool: DatabasePool): Promise<void> {
	const tables = await tablesOf(pool);
	await inTransaction(pool, async (db) => {
		await db.query("drop schema if exists backup cascade");
		await db.query("create schema backup");
		for (const table of tables) await db.query(`create table backup.${table} as table public.${table}`);
	});
}

/** Restores the last backup. Everything written since is lost. */
export async function restoreBackup(pool: DatabasePool): Promise<void> {
	const tables = await tablesOf(pool);
	await inTransaction(pool, async (db) => {
		// A row may come before the row that it references, and tables that never delete rows are refilled too.
		await db.query("set local session_replication_role = replica");
		await db.query(`truncate ${tables.join(", ")} cascade`);
		for (const table of tables) {
			await db.query(`insert into public.${table} overriding system value select * from backup.${table}`);
		}
	});
}

async function tablesOf(pool: DatabasePool): Promise<string[]> {
	const { rows } = await pool.query<{ relname: string }>(
		`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
			and not relispartition`,
	);
	return rows.map(({ relname }) => relname);
}
