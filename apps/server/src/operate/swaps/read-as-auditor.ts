import { readSecret } from "../../config/secrets.ts";
import { type Database, inTransaction, openDatabase } from "../../database/database.ts";

/** The server stops a query that takes longer, because by then this process no longer waits for it. */
const statementTimeoutMs = 25_000;

/**
 * Calls `run` in a read-only transaction on one snapshot. The auditor is the role with the fewest rights that can
 * read everything.
 */
export async function readAsAuditor<T>(run: (db: Database) => Promise<T>): Promise<T> {
	const url = readSecret("AUDITOR_DATABASE_URL");
	const pool = openDatabase({ url, applicationName: "geoswapd reads", max: 1, statementTimeoutMs });
	try {
		return await inTransaction(pool, run, {
			first: "set transaction isolation level repeatable read, read only",
		});
	} finally {
		await pool.end();
	}
}
