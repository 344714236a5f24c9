import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Database } from "../../database/database.ts";
import { ensureAccount } from "./accounts.ts";
import { createApiKey } from "./api-key.ts";
import {
	findApiKeys,
	insertApiKeys,
	listApiKeys,
	revokeApiKey,
	setApiKeyExpiry,
	setApiKeyLimits,
} from "./api-key-record.ts";
import { createApiKeys } from "./api-keys.ts";

const pepper = "pepper";
const patience = { timeout: 10_000 };
const limits = {
	rates: { quote: 20, build: 10, submit: 10, delegation: 10, status: 20, list: 10 },
	heldStatusCalls: 50,
};

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());
// Only intervals are faked, so that the database's own timeouts keep running.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

async function insertKeys(count: number, own = {}) {
	const keys = Array.from({ length: count }, () => createApiKey({ pepper, random: randomBytes }));
	const accountId = await ensureAccount(database.owner, { id: randomUUID(), name: "test" });
	await insertApiKeys(database.owner, { keys, accountId, ...own });
	return keys.map((key) => ({ accountId, ...key }));
}
async function insertKey(own = {}) {
	const [key] = await insertKeys(1, own);
	if (!key) throw new Error("no key was made");
	return key;
}

/** Creates keys on the real database, with queries counted; it can be made unavailable. */
function startApiKeys(own: { maxEntries?: number } = {}) {
	const queries: string[] = [];
	const errors: unknown[] = [];
	const state = { isDown: false, nowMs: 1_000_000, answers: 0 };
	const query = async (...args: Parameters<Database["query"]>) => {
		const [statement] = args as unknown as [string | { text: string }];
		queries.push(typeof statement === "string" ? statement : statement.text);
		if (state.isDown) throw new Error("connection refused");
		const answer: unknown = await Promise.resolve(database.pool.query(...args));
		state.answers++;
		return answer;
	};
	const apiKeys = createApiKeys({
		db: { query } as unknown as Database,
		pepper,
		limits,
		nowMs: () => state.nowMs,
		onError: (error) => errors.push(error),
		...own,
	});
	onTestFinished(() => apiKeys.close());
	const reads = () => queries.filter((sql) => sql.startsWith("select k.id")).length;
	/** Advances timers and the clock. The work that timers began may not be finished. */
	const pass = (ms: number) => {
		state.nowMs += ms;
		vi.advanceTimersByTime(ms);
	};
	/** Polls for an answer that differs from before, without a further query. */
	const seen = (key: string) =>
		expect.poll(
			() =>
				apiKeys.authenticate(key).then(
					({ limits }) => limits.rates.quote,
					({ code }) => code,
				),
			patience,
		);
	return { ...apiKeys, state, reads, queries, errors, pass, seen };
}

const unauthorized = { code: "UNAUTHORIZED" };

test("a key authenticates its account with its limits, and the database does not store its secret", async () => {
	const { key, id, accountId } = await insertKey({ limits: { rates: { quote: 5 }, heldStatusCalls: 3 } });
	const { rows } = await database.owner.query("select created_at from accounts where id = $1", [accountId]);
	expect(await startApiKeys().authenticate(key)).toEqual({
		accountId,
		accountCreatedAt: rows[0].created_at,
		keyId: id,
		limits: { rates: { ...limits.rates, quote: 5 }, heldStatusCalls: 3 },
	});
	const stored = JSON.stringify(await listApiKeys(database.owner));
	expect(stored).toContain(id);
	expect(stored).not.toContain(key.slice(-47));
});

test("a cached key is refused with any character changed, and the unchanged key is refused from its expiry on", async () => {
	const { key } = await insertKey({ expiresAt: new Date(1_000_500) });
	const { authenticate, state, reads } = startApiKeys();
	const first = await authenticate(key);
	expect(await authenticate(key)).toBe(first);
	for (const [i, character] of [...key].entries()) {
		const changed = key.slice(0, i) + (character === "0" ? "1" : "0") + key.slice(i + 1);
		await expect(authenticate(changed)).rejects.toMatchObject(unauthorized);
	}
	state.nowMs += 500;
	await expect(authenticate(key)).rejects.toMatchObject(unauthorized);
	expect(reads()).toBe(1);
});

test("a key that the service never issued, or with any character changed, is refused without a query", async () => {
	const { key } = await insertKey();
	const { authenticate, queries } = startApiKeys();
	const changed = Array.from(key, (c, i) => key.slice(0, i) + (c === "0" ? "1" : "0") + key.slice(i + 1));
	const ofAnother = createApiKey({ pepper: "other", random: randomBytes }).key;
	const wrongs = [undefined, "", "geosk_", key.toUpperCase(), `${key} `, key.slice(0, -1), ofAnother];
	for (const wrong of [...wrongs, ...changed]) {
		await expect(authenticate(wrong)).rejects.toMatchObject(unauthorized);
	}
	expect(queries).toEqual([]);
});

test("a cached key costs no query, and a revoked key is refused after two seconds even without a background refresh", async () => {
	const { key, id } = await insertKey();
	const { authenticate, state, reads } = startApiKeys();
	await Promise.all(Array.from({ length: 20 }, () => authenticate(key)));
	expect(await revokeApiKey(database.owner, id)).toBe(true);
	expect(await revokeApiKey(database.owner, id)).toBe(false);
	state.nowMs += 1_999;
	await authenticate(key);
	expect(reads()).toBe(1);
	state.nowMs += 1;
	await expect(authenticate(key)).rejects.toMatchObject(unauthorized);
	await expect(authenticate(key)).rejects.toMatchObject(unauthorized);
	expect(reads()).toBe(2);
});

test("two thousand keys in use cost one query a second, and none while they are unused", async () => {
	const keys = await insertKeys(2_000);
	const { authenticate, pass, reads, state, queries } = startApiKeys();
	await Promise.all(keys.map(({ key }) => authenticate(key)));
	expect(reads()).toBe(1);
	for (let second = 1; second <= 5; second++) {
		pass(1_000);
		await expect.poll(reads, patience).toBe(1 + second);
		await Promise.all(keys.map(({ key }) => authenticate(key)));
		expect(reads()).toBe(1 + second);
	}
	pass(1_000);
	await expect.poll(reads, patience).toBe(7);
	for (let second = 0; second < 3; second++) pass(1_000);
	expect(reads()).toBe(7);
	state.nowMs += 60_000;
	await Promise.all(keys.map(({ key }) => authenticate(key)));
	expect(reads()).toBe(8);
	expect(queries.every((sql) => /^select k\.id|set last_used_at/.test(sql))).toBe(true);
});

test("every process applies changed limits, expiry and revocation of a key in use at its next refresh", async () => {
	const { key, id } = await insertKey();
	const processes = [startApiKeys(), startApiKeys()];
	for (const { authenticate } of processes) await authenticate(key);
	const expectSeen = async (answer: unknown) => {
		const readsBefore = processes.map(({ reads }) => reads());
		for (const { state } of processes) state.nowMs += 1_000;
		vi.advanceTimersByTime(1_000);
		for (const { seen } of processes) await seen(key).toBe(answer);
		expect(processes.map(({ reads }) => reads())).toEqual(readsBefore.map((count) => count + 1));
	};
	await setApiKeyLimits(database.owner, { id, limits: { rates: { quote: 7 } } });
	await expectSeen(7);
	await setApiKeyExpiry(database.owner, { id, expiresAt: new Date(0) });
	await expectSeen("UNAUTHORIZED");
	await setApiKeyExpiry(database.owner, { id, expiresAt: undefined });
	await expectSeen(7);
	await revokeApiKey(database.owner, id);
	await expectSeen("UNAUTHORIZED");
});

test("a key is refused from the millisecond of its expiry on, without a query", async () => {
	const { key } = await insertKey({ expiresAt: new Date(1_000_500) });
	const { authenticate, state, reads } = startApiKeys();
	state.nowMs = 1_000_499;
	await authenticate(key);
	state.nowMs = 1_000_500;
	await expect(authenticate(key)).rejects.toMatchObject(unauthorized);
	expect(reads()).toBe(1);
});

test("a clock that is set back does not prolong a cached answer", async () => {
	const { key, id } = await insertKey();
	const { authenticate, state } = startApiKeys();
	await authenticate(key);
	await revokeApiKey(database.owner, id);
	state.nowMs -= 60_000;
	await expect(authenticate(key)).rejects.toMatchObject(unauthorized);
});

test("without a database a key in use works for two seconds; then calls fail as unavailable until the database is back", async () => {
	const { key } = await insertKey();
	const { authenticate, state, pass, errors } = startApiKeys();
	state.isDown = true;
	await expect(authenticate(key)).rejects.toMatchObject({ code: "UPSTREAM_UNAVAILABLE" });
	state.isDown = false;
	await expect(authenticate(key)).resolves.toMatchObject({ limits });
	state.isDown = true;
	pass(1_000);
	await expect.poll(() => errors.length, patience).toBe(1);
	await expect(authenticate(key)).resolves.toMatchObject({ limits });
	pass(1_000);
	await expect(authenticate(key)).rejects.toMatchObject({ code: "UPSTREAM_UNAVAILABLE" });
	state.isDown = false;
	await expect(authenticate(key)).resolves.toMatchObject({ limits });
});

test("a late response of the database does not restore a key that was refused meanwhile", async () => {
	const { key, id } = await insertKey();
	const asked = Promise.withResolvers<void>();
	const held = Promise.withResolvers<void>();
	let isHeld = false;
	let now = 0;
	const query = async (...args: Parameters<Database["query"]>) => {
		const mustWait = isHeld;
		const answer: unknown = await Promise.resolve(database.pool.query(...args));
		if (mustWait) {
			asked.resolve();
			await held.promise;
		}
		return answer;
	};
	const db = { query } as unknown as Database;
	const apiKeys = createApiKeys({ db, pepper, limits, nowMs: () => now });
	onTestFinished(() => apiKeys.close());
	await apiKeys.authenticate(key);
	isHeld = true;
	now = 1_000;
	vi.advanceTimersByTime(1_000);
	await asked.promise;
	isHeld = false;
	await revokeApiKey(database.owner, id);
	now = 2_100;
	await expect(apiKeys.authenticate(key)).rejects.toMatchObject(unauthorized);
	held.resolve();
	await new Promise((resolve) => setImmediate(resolve));
	await expect(apiKeys.authenticate(key)).rejects.toMatchObject(unauthorized);
});

test("a database response that is two seconds old when it arrives authenticates no key", async () => {
	const { key, id } = await insertKey();
	const asked = Promise.withResolvers<void>();
	const held = Promise.withResolvers<void>();
	let now = 0;
	const query = async (...args: Parameters<Database["query"]>) => {
		const answer: unknown = await Promise.resolve(database.pool.query(...args));
		asked.resolve();
		await held.promise;
		return answer;
	};
	const db = { query } as unknown as Database;
	const apiKeys = createApiKeys({ db, pepper, limits, nowMs: () => now });
	onTestFinished(() => apiKeys.close());
	const first = apiKeys.authenticate(key);
	await asked.promise;
	await revokeApiKey(database.owner, id);
	now = 1_900;
	const joined = apiKeys.authenticate(key);
	now = 2_000;
	held.resolve();
	for (const late of [first, joined]) await expect(late).rejects.toMatchObject(unauthorized);
});

test("a key lookup that is too slow is repeated, and fails as unavailable after several tries", async () => {
	const { key, accountId } = await insertKey();
	let now = 0;
	let slowAnswers = 3;
	const query = async (...args: Parameters<Database["query"]>) => {
		const answer: unknown = await Promise.resolve(database.pool.query(...args));
		if (slowAnswers-- > 0) now += 3_000;
		return answer;
	};
	const db = { query } as unknown as Database;
	const apiKeys = createApiKeys({ db, pepper, limits, nowMs: () => now });
	onTestFinished(() => apiKeys.close());
	expect(await apiKeys.authenticate(key)).toMatchObject({ accountId });
	slowAnswers = 10;
	now += 60_000;
	await expect(apiKeys.authenticate(key)).rejects.toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		details: { upstream: "database" },
	});
});

test("unknown key ids are evicted, are not refreshed in the background, and evict no key in use", async () => {
	const { key } = await insertKey();
	const { authenticate, reads, pass, state } = startApiKeys({ maxEntries: 10 });
	const unknown = () => createApiKey({ pepper, random: randomBytes }).key;
	const refuse = (wrong: string) => expect(authenticate(wrong)).rejects.toMatchObject(unauthorized);
	const first = unknown();
	await authenticate(key);
	await refuse(first);
	for (let i = 0; i < 8; i++) await refuse(unknown());
	await refuse(first);
	expect(reads()).toBe(10);
	// The key becomes the most recently read one.
	pass(1_000);
	await expect.poll(() => state.answers, patience).toBe(11);
	await authenticate(key);
	for (let i = 0; i < 9; i++) await refuse(unknown());
	await authenticate(key);
	expect(reads()).toBe(20);
	await refuse(first);
	expect(reads()).toBe(21);
});

test("last uses are written every ten seconds in one statement and on close, and not for refused keys", async () => {
	const [used, usedLate, refused, unused] = await insertKeys(4);
	if (!used || !usedLate || !refused || !unused) throw new Error("no keys were made");
	await revokeApiKey(database.owner, refused.id);
	const { authenticate, state, pass, queries, close } = startApiKeys();
	const writes = () => queries.filter((sql) => sql.includes("set last_used_at")).length;
	const lastUsed = async () => {
		const records = await findApiKeys(database.pool, [used.id, usedLate.id, refused.id, unused.id]);
		return Object.fromEntries(records.map(({ id, lastUsedAt }) => [id, lastUsedAt?.getTime()]));
	};
	await authenticate(used.key);
	await expect(authenticate(refused.key)).rejects.toMatchObject(unauthorized);
	state.nowMs += 500;
	await authenticate(used.key);
	expect(writes()).toBe(0);
	pass(10_000);
	await expect.poll(lastUsed, patience).toEqual({
		[used.id]: 1_000_500,
		[usedLate.id]: undefined,
		[refused.id]: undefined,
		[unused.id]: undefined,
	});
	pass(10_000);
	expect(writes()).toBe(1);
	await authenticate(usedLate.key);
	await close();
	expect(writes()).toBe(2);
	expect((await lastUsed())[usedLate.id]).toBe(state.nowMs);
});

test("a last use that could not be written is written the next time, and no call fails because of it", async () => {
	const { key, id } = await insertKey();
	const other = await insertKey();
	const { authenticate, state, pass, errors } = startApiKeys();
	await authenticate(key);
	await authenticate(other.key);
	state.isDown = true;
	vi.advanceTimersByTime(10_000);
	await expect.poll(() => errors.length, patience).toBeGreaterThan(1);
	await authenticate(other.key);
	state.isDown = false;
	pass(10_000);
	await expect
		.poll(async () => (await findApiKeys(database.pool, [id]))[0]?.lastUsedAt?.getTime(), patience)
		.toBe(1_000_000);
});
