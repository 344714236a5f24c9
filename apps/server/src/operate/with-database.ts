import { setActor } from "../api/key/key-changes.ts";
import { readSecret } from "../config/secrets.ts";
import { type Database, type DatabasePool, inTransaction, openDatabase } from "../database/database.ts";

export async function withDatabase<T>(run: (pool: DatabasePool) => Promise<T>): Promise<T> {
	const url = readSecret("DATABASE_URL");
	const pool = openDatabase({ url, applicationName: "geoswapd keys", max: 1 });
	try {
		return await run(pool);
	} finally {
		await pool.end();
	}
}

/** Makes all changes or none, and records in the history who made them. */
export function changeAs<T>(actor: string, run: (db: Database) => Promise<T>): Promise<T> {
	return withDatabase((pool) =>
		inTransaction(pool, async (db) => {
			await setActor(db, actor);
			return run(db);
		}),
	);
}
