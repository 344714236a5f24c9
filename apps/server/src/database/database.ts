import type { EventEmitter } from "node:events";
import type { Milliseconds } from "@geoswap/protocol";
import pg from "pg";

/** A pool, or one connection of it inside a transaction. */
export type Database = Pick<pg.Pool, "query">;
export type DatabasePool = pg.Pool;

// Block numbers, cents and nonces are far below 2^53. Amounts are numeric and become bigints.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, BigInt);

export function openDatabase({
	url,
	applicationName,
	max = 10,
	waitMs = 15_000,
	queryTimeoutMs = 30_000,
	statementTimeoutMs,
	onRefusal,
}: {
	url: string;
	applicationName: string;
	max?: number;
	/** Maximum time that a caller waits for a connection while all are in use. */
	waitMs?: Milliseconds;
	/** Maximum time that a caller waits for an answer. */
	queryTimeoutMs?: Milliseconds;
	/** Time after which the database itself cancels a statement. */
	statementTimeoutMs?: Milliseconds;
	/** Called if the database refuses a statement or a connection because of its own state. */
	onRefusal?: ((kind: RefusalKind) => void) | undefined;
}): DatabasePool {
	const { address, options } = withOptions(url);
	const pool = new pg.Pool({
		connectionString: address,
		application_name: applicationName,
		max,
		Client: onRefusal ? tellingClient(onRefusal) : PromptClient,
		connectionTimeoutMillis: waitMs,
		query_timeout: queryTimeoutMs,
		options,
		...(statementTimeoutMs !== undefined && { statement_timeout: statementTimeoutMs }),
		keepAlive: true,
		keepAliveInitialDelayMillis: 10_000,
	});
	// A connection that breaks while idle is replaced. Without a listener the process would end.
	pool.on("error", () => {});
	return pool;
}

/** A client that fails soon if the database does not answer, because a caller that waits for it delays others. */
class PromptClient extends pg.Client {
	constructor(config?: pg.ClientConfig) {
		super({ ...config, connectionTimeoutMillis: 5_000 });
	}
}

/** Server states in which PostgreSQL rejects a valid statement or connection. */
export const refusalKinds = ["read-only", "full", "crowded", "stopping"] as const;
export type RefusalKind = (typeof refusalKinds)[number];

const refusals: Readonly<Record<string, RefusalKind>> = {
	"25006": "read-only",
	"53100": "full",
	"53300": "crowded",
	"57P01": "stopping",
	"57P02": "stopping",
	"57P03": "stopping",
};

/** Returns the server state because of which the database rejected something valid, or undefined for other errors. */
export function refusalOf(error: unknown): RefusalKind | undefined {
	return error instanceof pg.DatabaseError ? refusals[error.code ?? ""] : undefined;
}

/**
 * Returns a client that reports such rejections. It listens to the connection, because errors of statements reach
 * only their caller, and an error of a connection that could not be opened is not emitted anywhere else.
 */
function tellingClient(onRefusal: (kind: RefusalKind) => void): typeof PromptClient {
	return class extends PromptClient {
		constructor(config?: pg.ClientConfig) {
			super(config);
			const { connection } = this as unknown as {
				connection: EventEmitter<{ errorMessage: [{ code?: string }] }>;
			};
			connection.on("errorMessage", ({ code = "" }) => {
				const kind = refusals[code];
				if (kind) onRefusal(kind);
			});
		}
	};
}

/**
 * A host that loses power does not close its connections. The server must detect that soon, or the rows that the host
 * held in a transaction, like an inventory row that all swaps to a token need, would be locked for hours. No
 * transaction waits for anything but the database.
 */
const endOfTheLost = `-c idle_in_transaction_session_timeout=15s -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 \
-c tcp_keepalives_count=3`;

/**
 * Adds the service's options to those of the address, which would otherwise replace them. Plans are not cached,
 * because a plan for any id is over all partitions and takes thousands of locks, which all connections share. JIT is
 * off, because all statements are short, and compiling one takes longer than running it.
 */
function withOptions(url: string): { address: string; options: string } {
	const ours = `-c plan_cache_mode=force_custom_plan -c jit=off ${endOfTheLost}`;
	if (!URL.canParse(url)) return { address: url, options: ours };
	const address = new URL(url);
	const theirs = address.searchParams.get("options");
	if (theirs === null) return { address: url, options: ours };
	address.searchParams.delete("options");
	return { address: address.href, options: `${theirs} ${ours}` };
}

/** Calls `run` in a transaction, which is committed as a whole or not at all. */
export async function inTransaction<T>(
	pool: DatabasePool,
	run: (transaction: Database, firstRow: unknown) => Promise<T>,
	/** A statement without parameters that is sent together with `begin`. `run` gets its first row. */
	{ first }: { first?: string } = {},
): Promise<T> {
	const client = await pool.connect();
	let broken: Error | undefined;
	const breakOff = (error: Error) => {
		broken = error;
	};
	// The pool listens only while a connection is idle. Without a listener, an error would end the process.
	client.on("error", breakOff);
	try {
		// Several statements in one query have several results.
		const begun = [await client.query(first === undefined ? "begin" : `begin; ${first}`)].flat().at(-1);
		const result = await run(client, begun?.rows[0]);
		await client.query("commit");
		return result;
	} catch (error) {
		// The statement that timed out is still running, and a rollback would only wait behind it.
		if (isTimeout(error)) breakOff(error);
		else await client.query("rollback").catch(breakOff);
		throw error;
	} finally {
		client.off("error", breakOff);
		client.release(broken);
	}
}

/** Returns whether this is the driver's own timeout, which has no code. */
function isTimeout(error: unknown): error is Error {
	return error instanceof Error && error.message === "Query read timeout";
}

/** Returns a row with undefined where the database has null. */
export function definedRow<Row extends object>(row: Row): Row {
	return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row;
}

/** A query with its parameters, which can stand alone or be a part of a statement. */
export type Part = { text: string; values: unknown[] };

/** Returns the parts' texts for one statement, with consecutively numbered parameters, and all values. */
export function joinParts(parts: readonly Part[]): { texts: string[]; values: unknown[] } {
	const values: unknown[] = [];
	const texts = parts.map((part) => {
		const before = values.length;
		values.push(...part.values);
		return part.text.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + before}`);
	});
	return { texts, values };
}
