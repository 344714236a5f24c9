import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { liftPauses, pauseForBreaches } from "../../swap/pause/pauses.ts";
import { migrate } from "../migrate.ts";
import { functionGrants, grants, type RoleName, roleNames } from "./grants.ts";

let database: TestDatabase;
let columnsOf: Map<string, string[]>;
beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
	const { rows } = await database.owner.query<{ table: string; columns: string[] }>(
		`select relname as table, array_agg(attname::text order by attnum) as columns from pg_class join pg_attribute on attrelid = pg_class.oid
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
			and attnum > 0 and not attisdropped
		group by relname order by relname`,
	);
	columnsOf = new Map(rows.map(({ table, columns }) => [table, columns]));
});
afterAll(() => database.drop());

const denied = "permission denied";

/** Statements on one column, for checking rights. No process sends them. */
const statements = {
	select: (table: string, column: string) => `select ${column} from ${table}`,
	insert: (table: string, column: string) => `insert into ${table} (${column}) values (default)`,
	update: (table: string, column: string) => `update ${table} set ${column} = default`,
};
type Verb = keyof typeof statements;
const verbs = Object.keys(statements) as Verb[];

/** Returns whether PostgreSQL lets the role run the statement. `explain` checks every right and changes nothing. */
async function mayRun(role: RoleName, sql: string): Promise<boolean> {
	try {
		await database.pools[role].query(`explain ${sql}`);
		return true;
	} catch (error) {
		if ((error as { code?: string }).code === "42501") return false;
		throw error;
	}
}

/** Returns the columns that the rights allow a verb on: all of them, those named, or none. */
function granted(rights: string, verb: Verb, columns: readonly string[]): string[] {
	const found = new RegExp(`\\b${verb}\\b(?:\\s*\\(([^)]*)\\))?`).exec(rights);
	if (!found) return [];
	const named = found[1]?.split(",").map((name) => name.trim());
	return columns.filter((column) => named?.includes(column) ?? true);
}

test("every table has an entry in the grants, and every entry has a table", () => {
	expect(Object.keys(grants).toSorted()).toEqual([...columnsOf.keys()].toSorted());
});

test.each(roleNames)("the %s has exactly the rights in the grants, column by column", async (role) => {
	const { rows } = await database.owner.query<{ table: string; verb: Verb; columns: string[] }>(
		`select relname as table, verb, array_agg(attname::text order by attnum) as columns
		from pg_class join pg_attribute on attrelid = pg_class.oid cross join unnest($2::text[]) as verb
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
			and attnum > 0 and not attisdropped and has_column_privilege($1, pg_class.oid, attnum, verb)
		group by relname, verb`,
		[database.roles[role], Object.keys(statements)],
	);
	const held = Object.fromEntries(rows.map(({ table, verb, columns }) => [`${verb} ${table}`, columns]));
	const expected = [...columnsOf].flatMap(([table, columns]) =>
		verbs.map((verb) => [`${verb} ${table}`, granted(grants[table]?.[role] ?? "", verb, columns)] as const),
	);
	expect(held).toEqual(Object.fromEntries(expected.filter(([, columns]) => columns.length > 0)));
});

test.each(roleNames)(
	"every statement that the %s is not granted is refused, on every table",
	async (role) => {
		for (const [table, columns] of columnsOf) {
			const rights = grants[table]?.[role] ?? "";
			for (const verb of verbs) {
				const allowed = granted(rights, verb, columns);
				const forbidden = columns.find((column) => !allowed.includes(column));
				if (forbidden)
					expect(await mayRun(role, statements[verb](table, forbidden)), `${verb} ${table}`).toBe(false);
				if (allowed[0])
					expect(await mayRun(role, statements[verb](table, allowed[0])), `${verb} ${table}`).toBe(true);
			}
			expect(await mayRun(role, `delete from ${table}`), `delete ${table}`).toBe(/\bdelete\b/.test(rights));
			await expect(database.pools[role].query(`truncate ${table}`), table).rejects.toThrow(denied);
		}
	},
);

test.each(roleNames)(
	"the %s cannot create, alter or drop tables, and can call only the functions that it is granted",
	async (role) => {
		const pool = database.pools[role];
		for (const sql of [
			"create table mine (id int)",
			"create temporary table mine (id int)",
			"create schema mine",
			"create table swaps_2000_01_01 partition of swaps default",
			"create function mine() returns int language sql as 'select 1'",
		]) {
			await expect(pool.query(sql), sql).rejects.toThrow(denied);
		}
		for (const sql of [
			"alter table jobs add column mine int",
			"drop table jobs",
			"drop trigger pauses_stay on pauses",
		]) {
			await expect(pool.query(sql), sql).rejects.toThrow("must be owner");
		}
		const { rows } = await database.owner.query<{ name: string }>(
			`select oid::regprocedure::text as name from pg_proc where pronamespace = 'public'::regnamespace
			and has_function_privilege($1, oid, 'execute')`,
			[database.roles[role]],
		);
		const callable = Object.keys(functionGrants).filter((name) => functionGrants[name]?.includes(role));
		expect(rows.map(({ name }) => name.replaceAll(",", ", ")).toSorted()).toEqual(callable.toSorted());
	},
);

test.each([
	[
		"queues a fill",
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority)
		values (gen_random_uuid(), 'fill', 1, '', '{}', 'queued', 1)`,
	],
	["turns a queued open into a fill", "update jobs set kind = 'fill'"],
	["raises the balance of the inventory", "update inventory set balance = balance + 1"],
	["raises what may leave the vault", "update inventory set outflow_available = outflow_available + 1"],
	["makes up a deposit", "insert into chain_events values (1, 1, 0, '', '', '', '', 'Opened', '{}')"],
	["makes up a signed transaction", "update lane_transactions set state = 'final'"],
	["writes in the ledger", "insert into entries values (1, 'inventory', 1, '', 1)"],
	["ends a swap", "update swaps set status = 'settled'"],
	[
		"adds a swap that is deposited already",
		"insert into swaps (id, stage) values (gen_random_uuid(), 'deposited')",
	],
	["lifts a pause", "update pauses set lifted_at = now(), lifted_by = 'me', lifted_reason = 'mine'"],
	["gives itself a key", "insert into api_keys (id, account_id, hash) values ('a', gen_random_uuid(), '')"],
	["raises a key's limits", `update api_keys set limits = '{"rates": {"submit": 1000}}'`],
])("a compromised API is refused when it %s", async (_, sql) => {
	await expect(database.pools.api.query(sql)).rejects.toThrow(denied);
});

test("the auditor can pause a chain and add to a pause, and cannot lift it", async () => {
	const { auditor } = database.pools;
	const pause = { chainId: 1, reason: "short", nowMs: Date.now() };
	expect(await pauseForBreaches(auditor, { ...pause, breaches: ["I1 a"] })).toBe(true);
	expect(await pauseForBreaches(auditor, { ...pause, breaches: ["I2 b"] })).toBe(false);
	const lift = { chainId: 1, by: "auditor", reason: "none", nowMs: Date.now() };
	await expect(liftPauses(auditor, lift)).rejects.toThrow(denied);
	expect(await liftPauses(database.owner, lift)).toMatchObject([{ breaches: ["I1 a", "I2 b"] }]);
});

test("a right granted by hand is revoked by the next migration", async () => {
	const { owner, roles } = database;
	await owner.query(`grant insert, update on jobs to ${roles.api}; grant update on inventory to public`);
	expect(await mayRun("api", "update inventory set balance = 1")).toBe(true);
	await migrate(owner, { roles });
	expect(await mayRun("api", "update inventory set balance = 1")).toBe(false);
	expect(await mayRun("api", "insert into jobs (swap_id) values (default)")).toBe(false);
	expect(await mayRun("api", "update inventory set reserved = 1")).toBe(true);
});
