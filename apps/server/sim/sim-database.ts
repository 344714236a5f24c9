import type pg from "pg";
import type { DatabasePool } from "../src/database/database.ts";
import { ensurePartitions, migrate } from "../src/database/migrate.ts";
import type { DatabaseRoles } from "../src/database/roles/grant-roles.ts";
import {
	type DatabaseWorld,
	enterWorldDatabase,
	type Run,
	setNow,
	type WorldDatabase,
} from "./enter-world-database.ts";
import { openSimConnection, type SimConnection } from "./sim-connection.ts";

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
		enter: (world) => enterWorldDatabase({ ...world, connection, send, filled, tables, roles }),
	};
}

/** Returns the names of tables, with partitions instead of their parents. */
async function tableNames(connection: SimConnection): Promise<string[]> {
	const { rows } = await connection.script<{ name: string }>(
		`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
	);
	return rows.map(({ name }) => name).filter((name) => !kept.includes(name));
}
