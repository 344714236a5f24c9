import pg from "pg";

/** Runs one statement on its own connection. Returns its rows. */
export async function runSql(databaseUrl: string, sql: string): Promise<unknown[]> {
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	try {
		return (await client.query(sql)).rows;
	} finally {
		await client.end();
	}
}
