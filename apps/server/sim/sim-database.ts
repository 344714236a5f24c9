import type pg from "pg";
import type { DatabasePool } from "../src/database/database.ts";
import { ensurePartitions, migrate } from "../src/database/migrate.ts";
import type { DatabaseRoles } from "../src/database/roles/grant-roles.ts";
import type { RoleName } from "../src/database/roles/grants.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { openSimConnection, type SimConnection } from "./sim-connection.ts";
import { never, type SimProcess } from "./sim-process.ts";

/**
 * A fault of a connection. `lost` means that nothing is done; `answer-lost`, that the statement is done and its result
 * is lost.
 */
export type DatabaseFault = "lost" | "answer-lost" | undefined;

/**
 * A real PostgreSQL behind the world's clock. There is one connection, and a transaction holds it until it ends, so
 * that the world and not the machine decides the order. now() in SQL is the world's time.
 */
export type SimDatabase = {
	/** Opens the database for a world, one world after the other. */
	enter: (world: DatabaseWorld) => WorldDatabase;
	/** Empties every table. */
	reset: () => Promise<void>;
	/** Runs a query on a separate connection, which reads only committed data. */
	onlook: (text: string, values: unknown[]) => Promise<pg.QueryResult>;
	figures: { statements: number; wallMs: number };
	close: () => Promise<void>;
};

type DatabaseWorld = {
	scheduler: Scheduler;
	random: SeededRandom;
	/** Called before each statement and before each commit. */
	faultOf: (process: SimProcess) => DatabaseFault;
};

export type WorldDatabase = {
	/** Returns a process's own pool, with the rights of its role. */
	poolOf: (process: SimProcess, role: RoleName) => DatabasePool;
	/** A pool for observers outside the world, with the auditor's rights. It never fails. */
	pool: DatabasePool;
	/** Backs up everything, and replaces the previous backup. */
	backUp: () => Promise<void>;
	/** Restores everything to the last backup. */
	restore: () => Promise<void>;
};

type Statement = string | { text: string; values?: unknown[]; name?: string };
type Run = (statement: Statement, values?: unknown[]) => Promise<pg.QueryResult>;

/** Tables that refuse to be emptied, and do not concern swaps. */
const kept = ["accounts", "api_keys", "key_changes", "migrations"];

/** The world's functions come before PostgreSQL's own, and tables are created in their usual schema. */
const searchPath = "set search_path = public, sim, pg_catalog";

export async function openSimDatabase({
	url,
	startMs,
	roles,
}: {
	url: string;
	startMs: number;
	roles: DatabaseRoles;
}): Promise<SimDatabase> {
	const connection = await openSimConnection({
		connectionString: url,
		application_name: "geoswap simulator",
		// One plan per statement, made again in each world from the same conditions.
		options: "-c plan_cache_mode=force_generic_plan -c jit=off -c synchronous_commit=off",
	});
	const onlooker = await openSimConnection({
		connectionString: url,
		application_name: "geoswap onlooker",
	});
	const figures = { statements: 0, wallMs: 0 };

	const send: Run = async (statement, given) => {
		const { text, values = given } = typeof statement === "string" ? { text: statement } : statement;
		const startedAt = performance.now();
		try {
			if (!values && text.includes(";")) return await connection.script(text);
			return await connection.run(text, values);
		} finally {
			figures.statements++;
			figures.wallMs += performance.now() - startedAt;
		}
	};

	const { rows } = await connection.script<{ is_made: boolean }>(
		"select to_regclass('public.swaps') is not null as is_made",
	);
	if (!rows[0]?.is_made) {
		await connection.script(`create schema sim;
			grant usage on schema sim to public;
			create function sim.now() returns timestamptz language sql stable
				as $$ select current_setting('sim.now')::timestamptz $$;
			create function sim.clock_timestamp() returns timestamptz language sql stable
				as $$ select current_setting('sim.now')::timestamptz $$`);
	}
	await connection.script(`${searchPath}; ${setNow(startMs)}`);
	const outside = { query: send, connect: async () => ({ query: send, release() {}, on() {}, off() {} }) };
	await migrate(outside as unknown as DatabasePool, { roles });
	await ensurePartitions(outside as unknown as DatabasePool, { nowMs: startMs, daysAhead: 1 });
	const tables = await tableNames(connection);
	// Autovacuum would change the order of rows whenever it ran.
	for (const table of tables)
		await connection.script(`alter table ${table} set (autovacuum_enabled = false)`);

	const filled = async (asker = connection): Promise<string[]> => {
		const question = tables.map((table) => `exists (select from ${table}) as ${table}`).join(", ");
		const answer = await asker.script<Record<string, boolean>>(`select ${question}`);
		return tables.filter((table) => answer.rows[0]?.[table]);
	};

	return {
		figures,
		close: async () => {
			await Promise.all([connection.end(), onlooker.end()]);
		},
		onlook: async (text, values) => {
			await connection.flush();
			return onlooker.run(text, values);
		},
		reset: async () => {
			await connection.script("rollback; reset role");
			// The onlooker has the owner's rights, regardless of the role that the previous world left set.
			const some = await filled(onlooker);
			if (some.length > 0) await onlooker.script(`truncate ${some.join(", ")} restart identity cascade`);
			// In every world, the first use of a statement finds the same conditions.
			await connection.script("discard plans");
		},
		enter: (world) => enterWorld({ ...world, connection, send, filled, tables, roles }),
	};
}

function enterWorld({
	scheduler,
	random,
	faultOf,
	connection,
	send,
	filled,
	tables,
	roles,
}: DatabaseWorld & {
	connection: SimConnection;
	send: Run;
	filled: () => Promise<string[]>;
	tables: readonly string[];
	roles: DatabaseRoles;
}): WorldDatabase {
	const turns = createKeyedLimiter();
	let sqlNowMs = Number.NaN;
	/** The connection's current role; undefined if unknown. */
	let current: RoleName | undefined;
	/** Advisory locks of sessions, each with the session that holds it, by name. */
	const leaders = new Map<string, object>();

	const run: Run = async (statement, values) => {
		const text = typeof statement === "string" ? statement : statement.text;
		if (sqlNowMs !== scheduler.nowMs() && asksForTime(text)) tellTime();
		try {
			return await scheduler.during(send(statement, values));
		} catch (error) {
			forgetSettings();
			throw error;
		}
	};
	/** Switches the role. One connection serves every process; in a real service each has its own login. */
	function assume(role: RoleName): void {
		if (current === role) return;
		current = role;
		connection.later(`set role ${roles[role]}`);
	}
	function assumeOwner(): void {
		current = undefined;
		connection.later("reset role");
	}
	/** Forgets the known settings, because those made within a transaction that fails are undone with it. */
	function forgetSettings(): void {
		sqlNowMs = Number.NaN;
		current = undefined;
	}
	function tellTime(): void {
		sqlNowMs = scheduler.nowMs();
		connection.later(setNow(sqlNowMs), { isOnce: true });
	}

	/** Waits until the statement reaches the database. Other processes may come first in that time. */
	async function reach(process: SimProcess | undefined): Promise<void> {
		if (!process) return;
		process.touch("database");
		await process.hear(scheduler.sleep(random.between(0, 2), `${process.name} database`));
	}

	async function once(
		process: SimProcess | undefined,
		role: RoleName,
		statement: Statement,
		values?: unknown[],
	) {
		await reach(process);
		const giveBack = await turns.take();
		const isThere = !process || process.isAlive();
		try {
			const fault = isThere && process ? faultOf(process) : undefined;
			if (fault === "lost") throw connectionLost();
			if (isThere) assume(role);
			const result = isThere ? await run(statement, values) : noRows;
			if (fault === "answer-lost") throw connectionLost();
			process?.touch("database answered");
			// The turn is given back first, so that a dead process keeps no other process waiting.
			giveBack();
			return process ? await process.hear(Promise.resolve(result)) : result;
		} finally {
			giveBack();
		}
	}

	function connect(process: SimProcess | undefined, role: RoleName) {
		const session = {};
		let giveBack: (() => void) | undefined;
		let isBroken = false;
		/** True if the transaction wrote rows that are only checked at its commit. */
		let isChecked = false;
		const rollBack = () => {
			const give = giveBack;
			giveBack = undefined;
			if (!give) return;
			connection.later("rollback");
			forgetSettings();
			give();
		};
		const leave = () => {
			for (const [name, leader] of leaders) if (leader === session) leaders.delete(name);
		};
		const forget = process?.onDeath(() => {
			leave();
			rollBack();
		});
		const breakDown = (): never => {
			isBroken = true;
			leave();
			rollBack();
			throw connectionLost();
		};

		async function query(statement: Statement, values?: unknown[]): Promise<pg.QueryResult> {
			const text = typeof statement === "string" ? statement : statement.text;
			if (process && !process.isAlive()) return never();
			if (isBroken) throw connectionLost();
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
				assume(role);
				const [begin = text, ...rest] = text.split("; ");
				// Within a transaction, now() is the time at which it began.
				connection.later(begin);
				tellTime();
				isChecked = false;
				// A statement sent together with `begin` is answered like one that comes after it.
				return rest.length > 0 ? query(rest.join("; ")) : noRows;
			}
			if (!giveBack) return once(process, role, statement, values);
			if (text === "rollback") {
				rollBack();
				return noRows;
			}
			if (text.startsWith("set transaction")) {
				connection.later(text);
				return noRows;
			}
			process?.touch(text === "commit" ? "commit" : "statement");
			if (process && !process.isAlive()) return never();
			if (text !== "commit") {
				isChecked ||= text.includes("insert into entries");
				return hearOf(
					scheduler.during(send(statement, values)).catch((error: unknown) => {
						forgetSettings();
						throw error;
					}),
				);
			}
			const fault = process && faultOf(process);
			if (fault === "lost") return breakDown();
			const give = giveBack;
			giveBack = undefined;
			try {
				if (isChecked) await scheduler.during(connection.run("commit"));
				else connection.later("commit");
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

	const poolOf = (process: SimProcess | undefined, role: RoleName): DatabasePool =>
		({
			query: (statement: Statement, values?: unknown[]) => once(process, role, statement, values),
			connect: async () => connect(process, role),
			on() {},
			end: async () => {},
		}) as unknown as DatabasePool;

	return {
		pool: poolOf(undefined, "auditor"),
		poolOf,
		backUp: async () => {
			const giveBack = await turns.take();
			assumeOwner();
			const some = await scheduler.during(filled());
			const copies = some.map((table) => `create table backup.${table} as table public.${table}`);
			await scheduler.during(
				connection.script(
					["drop schema if exists backup cascade", "create schema backup", ...copies].join("; "),
				),
			);
			giveBack();
		},
		restore: async () => {
			const giveBack = await turns.take();
			assumeOwner();
			const some = await scheduler.during(filled());
			const { rows } = await scheduler.during(
				connection.script<{ name: string }>(
					"select table_name as name from information_schema.tables where table_schema = 'backup' order by 1",
				),
			);
			const ids = { swap_events: "seq", postings: "id", event_outbox: "id" };
			await scheduler.during(
				connection.script(
					[
						// The triggers already ran when the rows were first written.
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
						// As `geoswapd restored` does.
						`insert into restores (at) values ('${new Date(scheduler.nowMs()).toISOString()}') on conflict do nothing`,
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

/**
 * Returns a `set` rather than a function call, which would be a query: some settings must come before a transaction's
 * first query.
 */
function setNow(nowMs: number): string {
	return `set sim.now = '${new Date(nowMs).toISOString()}'`;
}

const askingForTime = new Map<string, boolean>();

/** Returns true if the statement's effect depends on the time, because it reads the time or fills in a default. */
function asksForTime(text: string): boolean {
	let asks = askingForTime.get(text);
	if (asks === undefined) {
		asks = /now\(\)|clock_timestamp|insert/i.test(text);
		askingForTime.set(text, asks);
	}
	return asks;
}

/** Returns the names of tables, with partitions instead of their parents. */
async function tableNames(connection: SimConnection): Promise<string[]> {
	const { rows } = await connection.script<{ name: string }>(
		`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
	);
	return rows.map(({ name }) => name).filter((name) => !kept.includes(name));
}

/** Grants turns one at a time, in the order in which they were requested. */
function createKeyedLimiter(): { take: () => Promise<() => void> } {
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
