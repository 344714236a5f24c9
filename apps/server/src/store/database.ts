import pg from "pg";

/** A pool, or one connection of it inside a transaction. */
export type Database = Pick<pg.Pool, "query">;
export type DatabasePool = pg.Pool;

// Block numbers, cents and nonces are far below 2^53; amounts are numeric and become bigints.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, BigInt);

export function openDatabase({
	url,
	applicationName,
	max = 10,
}: {
	url: string;
	applicationName: string;
	max?: number;
}): DatabasePool {
	const pool = new pg.Pool({
		connectionString: url,
		application_name: applicationName,
		max,
		// A database that does not answer must become an error: whoever waits for it holds up others.
		connectionTimeoutMillis: 5_000,
		query_timeout: 30_000,
		keepAlive: true,
		keepAliveInitialDelayMillis: 10_000,
	});
	// A connection that breaks while idle is replaced; without a listener the process would end.
	pool.on("error", () => {});
	return pool;
}

/** Runs all of it or nothing. */
export async function inTransaction<T>(
	pool: DatabasePool,
	run: (transaction: Database) => Promise<T>,
): Promise<T> {
	const client = await pool.connect();
	let broken: Error | undefined;
	const breakOff = (error: Error) => {
		broken = error;
	};
	// The pool listens only while a connection is idle; unheard, an error would end the process.
	client.on("error", breakOff);
	try {
		await client.query("begin");
		const result = await run(client);
		await client.query("commit");
		return result;
	} catch (error) {
		await client.query("rollback").catch(breakOff);
		throw error;
	} finally {
		client.off("error", breakOff);
		client.release(broken);
	}
}
