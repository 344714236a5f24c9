import { readSecret } from "../../config/secrets.ts";
import { type Database, inTransaction, openDatabase } from "../../database/database.ts";

/** The server stops a query that takes longer, as this process no longer waits for it then. */
const statementTimeoutMs = 25_000;

/**
 * Calls `run` in a transaction that sees one moment and that the database lets write nothing. The auditor is the role
 * with the fewest rights that can read everything.
 */
export async function readAsAuditor<T>(run: (db: Database) => Promise<T>): Promise<T> {
	const url = readSecret("AUDITOR_DATABASE_URL");
	const pool = openDatabase({ url, applicationName: "geoswapd swaps", max: 1, statementTimeoutMs });
	try {
		return await inTransaction(pool, run, {
			first: "set transaction isolation level repeatable read, read only",
		});
	} finally {
		await pool.end();
	}
}
