import pg from "pg";
import type { DatabasePool } from "../src/store/database.ts";
import { ensurePartitions } from "../src/store/ensure-partitions.ts";
import { migrate } from "../src/store/migrate.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { never, type SimProcess } from "./sim-process.ts";

/** What a connection suffers: nothing is done; it is done and nobody hears of it; it does what it should. */
export type DatabaseFault = "lost" | "answer-lost" | undefined;

/**
 * A real PostgreSQL behind the world's clock. There is one connection, and a transaction has it for itself until it ends:
 * so who comes first is the world's choice and not the machine's. What SQL calls now is the world's time.
 */
export type SimDatabase = {
	/** For one world after the other. */
	enter: (world: DatabaseWorld) => WorldDatabase;
	/** Empties every table. */
	reset: () => Promise<void>;
	/** Asks by a connection of its own, which sees only what is committed. */
	onlook: (text: string, values: unknown[]) => Promise<pg.QueryResult>;
	figures: { statements: number; wallMs: number };
	close: () => Promise<void>;
};

export type DatabaseWorld = {
	scheduler: Scheduler;
	random: SeededRandom;
	/** Asked before each statement, and before each commit. */
	faultOf: (process: SimProcess) => DatabaseFault;
};

export type WorldDatabase = {
	/** A process's own pool. */
	poolOf: (process: SimProcess) => DatabasePool;
	/** For whoever looks at the world from outside: nothing befalls it. */
	pool: DatabasePool;
	/** Remembers everything, in place of what was remembered before. */
	backUp: () => Promise<void>;
	/** Everything is as it was when it was backed up. */
	restore: () => Promise<void>;
};

type Statement = string | { text: string; values?: unknown[]; name?: string };
type Run = (statement: Statement, values?: unknown[]) => Promise<pg.QueryResult>;

/** Refuse to be emptied, and are of no concern to swaps. */
const kept = ["accounts", "api_keys", "key_changes", "migrations"];

/** The world's functions come before PostgreSQL's own, and tables are made where they always are. */
const searchPath = "set search_path = public, sim, pg_catalog";

export async function openSimDatabase({
	url,
	startMs,
}: {
	url: string;
	startMs: number;
}): Promise<SimDatabase> {
	const client = new pg.Client({
		connectionString: url,
		application_name: "geoswap simulator",
		// One plan for each statement, made anew in each world: what it depends on is the same each time.
		options: "-c plan_cache_mode=force_generic_plan -c jit=off -c synchronous_commit=off",
	});
	await client.connect();
	const onlooker = new pg.Client({ connectionString: url, application_name: "geoswap onlooker" });
	await onlooker.connect();
	const names = new Map<string, string>();
	const figures = { statements: 0, wallMs: 0 };

	const send: Run = async (statement, given) => {
		const { text, values = given } = typeof statement === "string" ? { text: statement } : statement;
		const startedAt = performance.now();
		try {
			if (!values && text.includes(";")) return await client.query(text);
			const name = names.get(text) ?? `s${names.size}`;
			names.set(text, name);
			return await client.query({ name, text, values: values ?? [] });
		} finally {
			figures.statements++;
			figures.wallMs += performance.now() - startedAt;
		}
	};

	const { rows } = await client.query("select to_regclass('public.swaps') is not null as is_made");
	if (!rows[0].is_made) {
		await client.query(`create schema sim;
			create function sim.now() returns timestamptz language sql stable
				as $$ select current_setting('sim.now')::timestamptz $$;
			create function sim.clock_timestamp() returns timestamptz language sql stable
				as $$ select current_setting('sim.now')::timestamptz $$`);
	}
	await client.query(`${searchPath}; ${setNow(startMs)}`);
	const outside = { query: send, connect: async () => ({ query: send, release() {}, on() {}, off() {} }) };
	await migrate(outside as unknown as DatabasePool);
	await ensurePartitions(outside as unknown as DatabasePool, { nowMs: startMs, daysAhead: 1 });
	const tables = await tableNames(client);
	// Else rows would come in another order whenever it was at work.
	for (const table of tables) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);

	const filled = async (): Promise<string[]> => {
		const question = tables.map((table) => `exists (select from ${table}) as ${table}`).join(", ");
		const answer = await client.query<Record<string, boolean>>(`select ${question}`);
		return tables.filter((table) => answer.rows[0]?.[table]);
	};

	return {
		figures,
		close: async () => {
			await Promise.all([client.end(), onlooker.end()]);
		},
		onlook: (text, values) => onlooker.query(text, values),
		reset: async () => {
			await client.query("rollback");
			const some = await filled();
			if (some.length > 0) await client.query(`truncate ${some.join(", ")} restart identity cascade`);
			// In every world the first to use a statement finds the same.
			await client.query("discard plans");
		},
		enter: (world) => enterWorld({ ...world, client, send, filled, tables }),
	};
}

function enterWorld({
	scheduler,
	random,
	faultOf,
	client,
	send,
	filled,
	tables,
}: DatabaseWorld & {
	client: pg.Client;
	send: Run;
	filled: () => Promise<string[]>;
	tables: readonly string[];
}): WorldDatabase {
	const turns = createTurns();
	let sqlNowMs = Number.NaN;
	/** Locks of a session, by name: who leads. */
	const leaders = new Map<string, object>();

	const run: Run = async (statement, values) => {
		const text = typeof statement === "string" ? statement : statement.text;
		if (sqlNowMs !== scheduler.nowMs() && /now\(\)|clock_timestamp|insert/i.test(text)) await tellTime();
		return scheduler.during(send(statement, values));
	};
	async function tellTime(): Promise<void> {
		sqlNowMs = scheduler.nowMs();
		await scheduler.during(client.query(setNow(sqlNowMs)));
	}

	/** The way there takes a moment, in which others may come first. */
	async function reach(process: SimProcess | undefined): Promise<void> {
		if (!process) return;
		process.touch("database");
		await process.hear(scheduler.sleep(random.between(0, 2), `${process.name} database`));
	}

	async function once(process: SimProcess | undefined, statement: Statement, values?: unknown[]) {
		await reach(process);
		const giveBack = await turns.take();
		const isThere = !process || process.isAlive();
		try {
			const fault = isThere && process ? faultOf(process) : undefined;
			if (fault === "lost") throw connectionLost();
			const result = isThere ? await run(statement, values) : noRows;
			if (fault === "answer-lost") throw connectionLost();
			process?.touch("database answered");
			// Given back first: who died keeps nobody waiting.
			giveBack();
			return process ? await process.hear(Promise.resolve(result)) : result;
		} finally {
			giveBack();
		}
	}

	function connect(process: SimProcess | undefined) {
		const session = {};
		let giveBack: (() => void) | undefined;
		let isBroken = false;
		const end = async (how: "rollback") => {
			const give = giveBack;
			giveBack = undefined;
			if (!give) return;
			await scheduler.during(client.query(how));
			give();
		};
		const leave = () => {
			for (const [name, leader] of leaders) if (leader === session) leaders.delete(name);
		};
		const forget = process?.onDeath(() => {
			leave();
			void end("rollback");
		});
		const breakDown = async (): Promise<never> => {
			isBroken = true;
			leave();
			await end("rollback");
			throw connectionLost();
		};

		async function query(statement: Statement, values?: unknown[]): Promise<pg.QueryResult> {
			const text = typeof statement === "string" ? statement : statement.text;
			if (process && !process.isAlive()) return never();
			if (isBroken) throw connectionLost();
			if (text.startsWith("set tcp_keepalives")) return noRows;
			if (text.includes("pg_try_advisory_lock(")) {
				const [name] = values as [string];
				const locked = !leaders.has(name);
				if (locked) leaders.set(name, session);
				return { ...noRows, rows: [{ locked }] };
			}
			if (text.startsWith("begin")) {
				await reach(process);
				const give = await turns.take();
				if (process && !process.isAlive()) {
					give();
					return never();
				}
				giveBack = give;
				if (process && faultOf(process)) return breakDown();
				// What is now in a transaction is when it began.
				sqlNowMs = scheduler.nowMs();
				return scheduler.during(client.query(`${text}; ${setNow(sqlNowMs)}`)) as Promise<pg.QueryResult>;
			}
			if (!giveBack) return once(process, statement, values);
			if (text === "rollback") {
				await end("rollback");
				return noRows;
			}
			process?.touch(text === "commit" ? "commit" : "statement");
			if (process && !process.isAlive()) return never();
			if (text !== "commit") return hearOf(scheduler.during(send(statement, values)));
			const fault = process && faultOf(process);
			if (fault === "lost") return breakDown();
			const give = giveBack;
			giveBack = undefined;
			try {
				await scheduler.during(client.query("commit"));
			} finally {
				give();
			}
			if (fault === "answer-lost") {
				isBroken = true;
				throw connectionLost();
			}
			process?.touch("committed");
			return hearOf(Promise.resolve(noRows));
		}
		const hearOf = <T>(work: Promise<T>): Promise<T> => (process ? process.hear(work) : work);
		return {
			query,
			release: () => {
				leave();
				forget?.();
			},
			on() {},
			off() {},
		};
	}

	const poolOf = (process?: SimProcess): DatabasePool =>
		({
			query: (statement: Statement, values?: unknown[]) => once(process, statement, values),
			connect: async () => connect(process),
			on() {},
			end: async () => {},
		}) as unknown as DatabasePool;

	return {
		pool: poolOf(),
		poolOf,
		backUp: async () => {
			const giveBack = await turns.take();
			const some = await scheduler.during(filled());
			const copies = some.map((table) => `create table backup.${table} as table public.${table}`);
			await scheduler.during(
				client.query(["drop schema if exists backup cascade", "create schema backup", ...copies].join("; ")),
			);
			giveBack();
		},
		restore: async () => {
			const giveBack = await turns.take();
			const some = await scheduler.during(filled());
			const { rows } = await scheduler.during(
				client.query<{ name: string }>(
					"select table_name as name from information_schema.tables where table_schema = 'backup' order by 1",
				),
			);
			const ids = { swap_events: "seq", postings: "id" };
			await scheduler.during(
				client.query(
					[
						// Triggers were there when it was written.
						"set session_replication_role = replica",
						...(some.length > 0 ? [`truncate ${some.join(", ")} restart identity cascade`] : []),
						...rows
							.filter(({ name }) => tables.includes(name))
							.map(
								({ name }) =>
									`insert into public.${name} overriding system value select * from backup.${name}`,
							),
						...Object.entries(ids).map(
							([table, id]) =>
								`select setval(pg_get_serial_sequence('${table}', '${id}'), coalesce(max(${id}), 0) + 1, false) from ${table}`,
						),
						"set session_replication_role = origin",
					].join("; "),
				),
			);
			giveBack();
		},
	};
}

const noRows = { rows: [], rowCount: 0, command: "", oid: 0, fields: [] } satisfies pg.QueryResult;

function connectionLost(): Error {
	return Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
}

function setNow(nowMs: number): string {
	return `set sim.now = '${new Date(nowMs).toISOString()}'`;
}

/** Partitions rather than what they are parts of. */
async function tableNames(client: pg.Client): Promise<string[]> {
	const { rows } = await client.query<{ name: string }>(
		`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
	);
	return rows.map(({ name }) => name).filter((name) => !kept.includes(name));
}

/** One at a time, in the order in which they came. */
function createTurns(): { take: () => Promise<() => void> } {
	const waiting: (() => void)[] = [];
	let isTaken = false;
	const giveBack = () => {
		const next = waiting.shift();
		if (next) next();
		else isTaken = false;
	};
	return {
		take: async () => {
			if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve));
			isTaken = true;
			let isGiven = false;
			return () => {
				if (!isGiven) giveBack();
				isGiven = true;
			};
		},
	};
}
