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
	statementTimeoutMs,
}: {
	url: string;
	applicationName: string;
	max?: number;
	/** The database itself ends what takes longer. */
	statementTimeoutMs?: number;
}): DatabasePool {
	const { address, options } = withOptions(url);
	const pool = new pg.Pool({
		connectionString: address,
		application_name: applicationName,
		max,
		// A database that does not answer must become an error: whoever waits for it holds up others.
		connectionTimeoutMillis: 5_000,
		query_timeout: 30_000,
		options,
		...(statementTimeoutMs !== undefined && { statement_timeout: statementTimeoutMs }),
		keepAlive: true,
		keepAliveInitialDelayMillis: 10_000,
	});
	// A connection that breaks while idle is replaced; without a listener the process would end.
	pool.on("error", () => {});
	return pool;
}

/**
 * A plan that is kept for any id is one over all partitions: thousands of locks, of those that all connections share. The
 * address may have options of its own, which would stand instead of ours.
 */
function withOptions(url: string): { address: string; options: string } {
	const ours = "-c plan_cache_mode=force_custom_plan";
	if (!URL.canParse(url)) return { address: url, options: ours };
	const address = new URL(url);
	const theirs = address.searchParams.get("options");
	if (theirs === null) return { address: url, options: ours };
	address.searchParams.delete("options");
	return { address: address.href, options: `${theirs} ${ours}` };
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
