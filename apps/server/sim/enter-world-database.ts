import type pg from "pg";
import type { DatabasePool } from "../src/database/database.ts";
import type { DatabaseRoles } from "../src/database/roles/grant-roles.ts";
import type { RoleName } from "../src/database/roles/grants.ts";
import { backUpDatabase, restoreDatabase } from "./back-up-database.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimConnection } from "./sim-connection.ts";
import { never, type SimProcess } from "./sim-process.ts";

/**
 * A fault of a connection. `lost` means that nothing is done; `answer-lost`, that the statement is done and its result
 * is lost.
 */
export type DatabaseFault = "lost" | "answer-lost" | undefined;

export type DatabaseWorld = {
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
export type Run = (statement: Statement, values?: unknown[]) => Promise<pg.QueryResult>;

/**
 * Opens the database for the processes of a world. Their pools share one connection and take turns on it, each for one
 * statement or for a whole transaction. Each session still has its own role, faults, locks and rollback.
 */
export function enterWorldDatabase({
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
	const turns = createTurns();
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

	const asOwner = async (work: typeof restoreDatabase): Promise<void> => {
		const giveBack = await turns.take();
		assumeOwner();
		await work({ connection, scheduler, filled, tables });
		giveBack();
	};

	return {
		pool: poolOf(undefined, "auditor"),
		poolOf,
		backUp: () => asOwner(backUpDatabase),
		restore: () => asOwner(restoreDatabase),
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
export function setNow(nowMs: number): string {
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

/** Grants turns one at a time, in the order in which they were requested. */
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
