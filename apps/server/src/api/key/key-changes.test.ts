import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { inTransaction } from "../../database/database.ts";
import { ensureAccount, insertAccount, listAccounts } from "./accounts.ts";
import {
	findApiKeys,
	insertApiKeys,
	replaceApiKey,
	revokeApiKey,
	setApiKeyExpiry,
	setApiKeyLimits,
	touchApiKeys,
} from "./api-key-record.ts";
import { keyChangesQuery, listKeyChanges, setActor } from "./key-changes.ts";
import { operations } from "./operations.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
});
afterAll(() => database.drop());

async function insertKey() {
	const accountId = randomUUID();
	const id = randomBytes(6).toString("hex");
	await insertAccount(database.pool, { id: accountId, name: accountId });
	await insertApiKeys(database.pool, { keys: [{ id, hash: randomBytes(32) }], accountId });
	return { id, accountId };
}
const changesOf = async (accountName: string) =>
	(await listKeyChanges(database.pool, { accountName, limit: 100 })).map(({ change }) => change);

test("every change by a command is recorded with its actor, before and after, and without the hash", async () => {
	const { pool } = database;
	const accountId = randomUUID();
	const [id, next] = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"];
	const hash = randomBytes(32);
	await inTransaction(pool, async (db) => {
		await setActor(db, "Ada");
		await ensureAccount(db, { id: accountId, name: "an agent" });
		await insertApiKeys(db, { keys: [{ id, hash }], accountId });
		await setApiKeyLimits(db, { id, limits: { rates: { quote: 5 }, heldStatusCalls: 2 } });
		await setApiKeyExpiry(db, { id, expiresAt: new Date("2040-01-01T00:00:00Z") });
		await insertApiKeys(db, { keys: [{ id: next, hash }], accountId });
		await replaceApiKey(db, { id, replacedBy: next, expiresAt: new Date("2039-01-01T00:00:00Z") });
		await revokeApiKey(db, id);
	});
	const changes = await listKeyChanges(pool, { accountName: "an agent", limit: 100 });
	expect(changes.map(({ change, keyId }) => [change, keyId])).toEqual([
		["account-created", undefined],
		["created", id],
		["limits", id],
		["expiry", id],
		["created", next],
		["rotated", id],
		["revoked", id],
	]);
	for (const change of changes) {
		expect(change).toMatchObject({ actor: "Ada", accountId });
		expect(change.at.getTime()).toBeGreaterThan(Date.now() - 60_000);
	}
	expect(changes[2]).toMatchObject({
		before: { limits: {} },
		after: { limits: { rates: { quote: 5 }, heldStatusCalls: 2 } },
	});
	expect(changes[5]).toMatchObject({ before: { replaced_by: null }, after: { replaced_by: next } });
	expect(JSON.stringify(changes)).not.toMatch(new RegExp(`hash|${hash.toString("hex")}`));
	expect(await listKeyChanges(pool, { keyId: id, limit: 2 })).toEqual(changes.slice(5));
});

test("a manual change in the database is recorded too, under the name of the database user", async () => {
	const { pool } = database;
	const { id, accountId } = await insertKey();
	const other = await insertKey();
	for (const sql of [
		'update api_keys set limits = \'{"rates": {"quote": 9}}\', last_used_at = now() where id = $1',
		"update api_keys set expires_at = now() where id = $1",
		"update api_keys set revoked_at = now(), limits = '{}' where id = $1",
		"update api_keys set revoked_at = null where id = $1",
		"update api_keys set hash = '\\x00', revoked_at = now() where id = $1",
		"update api_keys set created_at = created_at - interval '1 day' where id = $1",
		`update api_keys set account_id = '${other.accountId}' where id = $1`,
		`update api_keys set account_id = '${accountId}' where id = $1`,
		"delete from api_keys where id = $1",
	]) {
		await pool.query(sql, [id]);
	}
	await pool.query("update accounts set name = 'renamed' where id = $1", [accountId]);
	await pool.query("delete from accounts where id = $1", [accountId]);
	const changes = await listKeyChanges(pool, { accountName: "renamed", limit: 100 });
	expect(changes.map(({ change }) => change)).toEqual([
		"account-created",
		"created",
		"limits",
		"expiry",
		"revoked",
		"unrevoked",
		"secret",
		"changed",
		"moved",
		"deleted",
		"account-changed",
		"account-deleted",
	]);
	const { rows } = await pool.query<{ user: string }>("select session_user as user");
	const user = rows[0]?.user;
	for (const change of changes) expect(change).toMatchObject({ actor: user, databaseUser: user });
	expect(await changesOf(accountId)).toEqual(changes.map(({ change }) => change));
	expect(await changesOf(other.accountId)).toEqual(["account-created", "created", "moved"]);
});

test("the actor of one transaction does not carry over to the next", async () => {
	const client = await database.pool.connect();
	const name = randomUUID();
	try {
		await client.query("begin");
		await setActor(client, "Ada");
		await client.query("commit");
		await insertAccount(client, { id: randomUUID(), name });
	} finally {
		client.release();
	}
	const [change] = await listKeyChanges(database.pool, { accountName: name, limit: 1 });
	expect(change?.actor).toBe(change?.databaseUser);
});

test("a use of a key, or an update that changes nothing, is not recorded as a change", async () => {
	const { pool } = database;
	const { id, accountId } = await insertKey();
	await touchApiKeys(pool, new Map([[id, Date.now()]]));
	await setApiKeyLimits(pool, { id, limits: {} });
	await ensureAccount(pool, { id: randomUUID(), name: accountId });
	await revokeApiKey(pool, "nobody's");
	expect(await changesOf(accountId)).toEqual(["account-created", "created"]);
});

test("an older use does not overwrite a newer one", async () => {
	const { id } = await insertKey();
	await touchApiKeys(database.pool, new Map([[id, 2_000]]));
	await touchApiKeys(
		database.pool,
		new Map([
			[id, 1_000],
			["nobody's", 1_000],
		]),
	);
	expect((await findApiKeys(database.pool, [id]))[0]?.lastUsedAt?.getTime()).toBe(2_000);
});

test("processes that write uses of the same keys concurrently do not deadlock", async () => {
	const { pool } = database;
	const accountId = await ensureAccount(pool, { id: randomUUID(), name: "busy" });
	const ids = Array.from({ length: 500 }, () => randomBytes(6).toString("hex"));
	await insertApiKeys(pool, { keys: ids.map((id) => ({ id, hash: randomBytes(32) })), accountId });
	for (let round = 1; round <= 5; round++) {
		const at = (id: string): [string, number] => [id, round * 1_000];
		await Promise.all([
			touchApiKeys(pool, new Map(ids.map(at))),
			touchApiKeys(pool, new Map(ids.toReversed().map(at))),
			touchApiKeys(pool, new Map(ids.map(at))),
			touchApiKeys(pool, new Map(ids.toReversed().map(at))),
		]);
	}
	const uses = (await findApiKeys(pool, ids)).map(({ lastUsedAt }) => lastUsedAt?.getTime());
	expect(new Set(uses)).toEqual(new Set([5_000]));
});

test.each([
	"update key_changes set actor = 'nobody'",
	"delete from key_changes",
	"delete from key_changes where id = -1",
	"truncate key_changes",
	"insert into key_changes (actor, account_id, change) values ('nobody', gen_random_uuid(), 'created')",
	"truncate api_keys",
	"truncate accounts cascade",
])("the history cannot be changed: %s is refused", async (sql) => {
	const { accountId } = await insertKey();
	await expect(database.pool.query(sql)).rejects.toThrow("is refused");
	expect(await changesOf(accountId)).toEqual(["account-created", "created"]);
});

test("a database user who owns nothing changes keys under its own user name, and cannot tamper with the history", async () => {
	const { id, accountId } = await insertKey();
	const user = `user_${id}`;
	await database.pool.query(`create role ${user}`);
	await database.pool.query(`grant select, insert, update, delete on accounts, api_keys to ${user}`);
	await database.pool.query(`grant select on key_changes to ${user}`);
	await database.pool.query(
		`do $$ begin execute format('grant temporary on database %I to ${user}', current_database()); end $$`,
	);
	const client = await database.pool.connect();
	try {
		await client.query(`set session authorization ${user}`);
		// Neither the temporary table nor the search path intercepts what is recorded.
		await client.query("create temp table key_changes (like public.key_changes)");
		await client.query("set search_path = pg_temp, public");
		await revokeApiKey(client, id);
		await client.query("drop table pg_temp.key_changes");
		const made = "(actor, account_id, change) values ('nobody', gen_random_uuid(), 'created')";
		await client.query(
			`create temp table own (like public.api_keys including defaults);
			create function pg_temp.make_up() returns trigger language plpgsql as
				$f$ begin insert into key_changes ${made}; return null; end $f$;
			create trigger own after insert on own for each row execute function pg_temp.make_up()`,
		);
		for (const sql of [
			`insert into key_changes ${made}`,
			"insert into own (id, account_id, hash) values ('x', gen_random_uuid(), '')",
			"create trigger own after insert on own for each row execute function record_key_change()",
			"create trigger own after insert on own for each row execute function record_account_change()",
			"update key_changes set actor = 'nobody'",
			"alter table key_changes disable trigger all",
			"alter table api_keys disable trigger all",
			"set session_replication_role = replica",
		]) {
			await expect(client.query(sql)).rejects.toThrow(/is refused|must be owner|permission denied/);
		}
	} finally {
		await client.query("reset session authorization");
		await client.query("discard all");
		client.release();
		await database.pool.query(`drop owned by ${user}`);
		await database.pool.query(`drop role ${user}`);
	}
	const changes = await listKeyChanges(database.pool, { accountName: accountId, limit: 1 });
	expect(changes).toMatchObject([{ change: "revoked", actor: user, databaseUser: user }]);
});

test.each([
	"[]",
	'{"rates": 5}',
	'{"rates": {"quote": "5"}}',
	'{"rates": {"quote": 0}}',
	'{"heldStatusCalls": 1.5}',
	'{"heldStatusCalls": 0}',
	'{"rates": {"quote": [5, 6]}}',
	'{"rates": {"quote": []}}',
	'{"rates": {"quote": null}}',
	'{"rates": {"quote": {"quote": 5}}}',
	'{"rates": {"quote": 1e400}}',
	'{"rates": {"qoute": 5}}',
	'{"rates": null}',
	'{"rates": []}',
	'{"heldStatusCalls": [1]}',
	'{"heldStatusCalls": null}',
	'{"maxUsdPerDay": -1}',
	'{"maxUsdPerDay": "50000"}',
	'{"maxUsdPerDay": [1]}',
	'{"maxUsdPerDay": 1e12}',
	'{"rate": {}}',
	"5",
	"null",
])("the database refuses invalid limits: %s", async (limits) => {
	const { id } = await insertKey();
	await expect(
		database.pool.query("update api_keys set limits = $2 where id = $1", [id, limits]),
	).rejects.toThrow(/api_keys_limits_check|cannot delete from scalar/);
});

test("the database accepts limits for every operation and for none", async () => {
	const { id } = await insertKey();
	const rates = Object.fromEntries(operations.map((operation, i) => [operation, i + 0.5]));
	for (const limits of [
		{},
		{ rates: {} },
		{ maxUsdPerDay: 0 },
		{ maxUsdPerDay: 50_000.5 },
		{ maxUsdPerDay: null },
		{ rates },
		{ heldStatusCalls: 1 },
		{ rates, heldStatusCalls: 999_999 },
	]) {
		await setApiKeyLimits(database.pool, { id, limits });
		expect((await findApiKeys(database.pool, [id]))[0]?.limits).toEqual(limits);
	}
});

test("an account's name can be taken only once, and its valid keys are counted", async () => {
	const { pool } = database;
	const id = randomUUID();
	expect(await insertAccount(pool, { id, name: "counted" })).toBe(true);
	expect(await insertAccount(pool, { id: randomUUID(), name: "counted" })).toBe(false);
	const nowMs = Date.now();
	for (const [i, expiresAt] of [undefined, new Date(nowMs + 1), new Date(nowMs)].entries()) {
		await insertApiKeys(pool, {
			keys: [{ id: `counted-${i}`, hash: randomBytes(32) }],
			accountId: id,
			expiresAt,
		});
	}
	const counted = async () => (await listAccounts(pool, { nowMs })).find(({ name }) => name === "counted");
	expect(await counted()).toMatchObject({ id, validKeys: 2 });
	await revokeApiKey(pool, "counted-0");
	expect(await counted()).toMatchObject({ id, validKeys: 1 });
});

test("the history finds a key by its current and its earlier id, and an account by every name that it had", async () => {
	const { pool } = database;
	const { id, accountId } = await insertKey();
	const [newId, newName] = [randomBytes(6).toString("hex"), randomUUID()];
	await pool.query("update api_keys set id = $2 where id = $1", [id, newId]);
	await pool.query("update accounts set name = $2 where id = $1", [accountId, newName]);
	const found = async (own: { keyId: string } | { accountName: string }) =>
		(await listKeyChanges(pool, { ...own, limit: 100 })).map(({ change }) => change);
	expect(await found({ keyId: id })).toEqual(["created", "moved"]);
	expect(await found({ keyId: newId })).toEqual(["moved"]);
	for (const accountName of [accountId, newName]) {
		expect(await found({ accountName })).toEqual(["account-created", "created", "moved", "account-changed"]);
	}
	expect(await found({ accountName: randomUUID() })).toEqual([]);
});

test("queries of a long history use indexes", async () => {
	const { pool } = database;
	await pool.query(
		`insert into accounts (id, name) select gen_random_uuid(), 'crowd ' || i from generate_series(1, 5000) i`,
	);
	await pool.query(
		`insert into api_keys (id, account_id, hash) select 'crowd ' || name, id, '' from accounts where name like 'crowd %'`,
	);
	await pool.query("analyze key_changes");
	for (const found of [{ keyId: "crowd crowd 7" }, { accountName: "crowd 7" }]) {
		const { text, values } = keyChangesQuery({ ...found, limit: 100 });
		const { rows } = await pool.query<{ "QUERY PLAN": string }>(`explain analyze ${text}`, values);
		const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
		expect(plan).not.toContain("Seq Scan");
		expect(plan).not.toContain("key_changes_pkey");
	}
});
