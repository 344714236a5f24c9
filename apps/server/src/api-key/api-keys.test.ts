import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { ensureAccount, findApiKey, insertApiKey, listApiKeys, revokeApiKey } from "../store/api-keys.ts";
import type { Database } from "../store/database.ts";
import { createApiKey } from "./api-key.ts";
import { createApiKeys } from "./api-keys.ts";
import { createRateLimits, type RateLimits } from "./rate-limits.ts";

const pepper = "pepper";
const patience = { timeout: 10_000 };
const limits = {
	rates: { quote: 20, build: 10, submit: 10, delegation: 10, status: 20 },
	heldStatusCalls: 50,
};
const redisUrl = inject("redisUrl");

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

async function insertKey(own = {}) {
	const created = createApiKey({ pepper, random: randomBytes });
	const accountId = await ensureAccount(database.pool, { id: randomUUID(), name: "test" });
	await insertApiKey(database.pool, { id: created.id, accountId, hash: created.hash, limits: own });
	return { accountId, ...created };
}

/** The real database, counted. */
function counted() {
	let queries = 0;
	const query = (...args: Parameters<Database["query"]>) => {
		queries++;
		return database.pool.query(...args);
	};
	return { db: { query } as unknown as Database, queries: () => queries };
}

test("a key speaks for its account with its own limits, and the database holds nothing that opens", async () => {
	const { key, id, accountId } = await insertKey({ rates: { quote: 5 }, heldStatusCalls: 3 });
	const account = await createApiKeys({ db: database.pool, pepper, limits }).authenticate(key);
	expect(account).toEqual({
		accountId,
		keyId: id,
		limits: { rates: { ...limits.rates, quote: 5 }, heldStatusCalls: 3 },
	});
	expect(key).toMatch(/^gsk_[0-9a-z]{12}_[0-9a-z]{40}$/);
	const stored = JSON.stringify(await listApiKeys(database.pool));
	expect(stored).toContain(id);
	expect(stored).not.toContain(key.slice(-40));
	const otherPepper = createApiKeys({ db: database.pool, pepper: "other", limits });
	await expect(otherPepper.authenticate(key)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});

test("a key we never made is refused without a query, with any character of it changed too", async () => {
	const { key } = await insertKey();
	const { db, queries } = counted();
	const apiKeys = createApiKeys({ db, pepper, limits });
	const changed = Array.from(key, (c, i) => key.slice(0, i) + (c === "0" ? "1" : "0") + key.slice(i + 1));
	for (const wrong of [undefined, "", "gsk_", key.toUpperCase(), `${key} `, key.slice(0, -1), ...changed]) {
		await expect(apiKeys.authenticate(wrong)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
	}
	expect(queries()).toBe(0);
});

test("a warm key costs no query, and a revoked one stops within two seconds", async () => {
	const { key, id } = await insertKey();
	const { db, queries } = counted();
	let now = 0;
	const apiKeys = createApiKeys({ db, pepper, limits, nowMs: () => now });
	await Promise.all(Array.from({ length: 20 }, () => apiKeys.authenticate(key)));
	now = 999;
	await apiKeys.authenticate(key);
	expect(queries()).toBe(1);

	expect(await revokeApiKey(database.pool, id)).toBe(true);
	expect(await revokeApiKey(database.pool, id)).toBe(false);
	now = 2_000;
	await expect(apiKeys.authenticate(key)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
	await expect(apiKeys.authenticate(key)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
	expect(queries()).toBe(2);
	expect((await findApiKey(database.pool, id))?.revokedAt).toBeInstanceOf(Date);
});

test("a key in use is read again in the background, once", async () => {
	const { key, id } = await insertKey();
	const { db, queries } = counted();
	let now = 0;
	const apiKeys = createApiKeys({ db, pepper, limits, nowMs: () => now });
	await apiKeys.authenticate(key);
	await revokeApiKey(database.pool, id);
	now = 1_500;
	await Promise.all(Array.from({ length: 20 }, () => apiKeys.authenticate(key)));
	expect(queries()).toBe(2);
	await expect
		.poll(() => apiKeys.authenticate(key).catch((error) => error.code), patience)
		.toBe("UNAUTHORIZED");
});

test("without a database a key is neither right nor wrong: the caller may try again, and then it works", async () => {
	const { key } = await insertKey();
	let isDown = true;
	const db = {
		query: (...args: Parameters<Database["query"]>) =>
			isDown ? Promise.reject(new Error("connection refused")) : database.pool.query(...args),
	} as unknown as Database;
	const apiKeys = createApiKeys({ db, pepper, limits });
	await expect(apiKeys.authenticate(key)).rejects.toMatchObject({ code: "UPSTREAM_UNAVAILABLE" });
	isDown = false;
	await expect(apiKeys.authenticate(key)).resolves.toMatchObject({ limits });
});

test("processes count a key's requests together, per operation", async () => {
	const prefix = `geoswap:test:${randomUUID()}`;
	const redis = new Redis(redisUrl);
	const processes = ["one", "two"].map((name) => ({
		name,
		limits: createRateLimits({ redisUrl, unauthenticatedPerSecond: 1, prefix, redisTimeoutMs: 5_000 }),
	}));
	try {
		for (const { name, limits } of processes) {
			await expect
				.poll(async () => {
					await limits.takeForKey({ keyId: name, operation: "quote", perSecond: 100 });
					return redis.exists(`${prefix}:${name}:quote`);
				}, patience)
				.toBe(1);
		}
		for (const operation of ["quote", "status"] as const) {
			const states = [];
			for (let i = 0; i < 12; i++) {
				states.push(await processes[i % 2]?.limits.takeForKey({ keyId: "k", operation, perSecond: 0.5 }));
			}
			expect(states.map((state) => state?.isAllowed)).toEqual([...Array(10).fill(true), false, false]);
			expect(states.map((state) => state?.remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
			for (const state of states) {
				expect(state?.limit).toBe(10);
				expect(state?.resetSeconds).toBeGreaterThan(0);
				expect(state?.resetSeconds).toBeLessThanOrEqual(20);
			}
		}
	} finally {
		for (const { limits } of processes) limits.close();
		const keys = await redis.keys(`${prefix}*`);
		if (keys.length > 0) await redis.del(keys);
		redis.disconnect();
	}
});

/** Ten of twelve requests are let through, soon. */
async function expectLimited(rateLimits: RateLimits): Promise<void> {
	const started = performance.now();
	const allowed = [];
	for (let i = 0; i < 12; i++) {
		const { isAllowed } = await rateLimits.takeForKey({ keyId: "k", operation: "quote", perSecond: 0.5 });
		allowed.push(isAllowed);
	}
	expect(allowed).toEqual([...Array(10).fill(true), false, false]);
	expect(performance.now() - started).toBeLessThan(5_000);
}

test("without Redis limits go on and nothing fails", async () => {
	const rateLimits = createRateLimits({ redisUrl: "redis://127.0.0.1:1", unauthenticatedPerSecond: 1 });
	await expectLimited(rateLimits);
	rateLimits.close();
});

test("with a Redis that stops answering limits go on and nothing waits", async () => {
	const { hostname, port } = new URL(redisUrl);
	const clients: Socket[] = [];
	const proxy = createServer((client) => {
		const upstream = connect(Number(port || 6379), hostname);
		client.pipe(upstream).pipe(client);
		client.on("close", () => upstream.destroy());
		// Either end may go first.
		for (const socket of [client, upstream]) socket.on("error", () => {});
		clients.push(client);
	}).listen(0, "127.0.0.1");
	await once(proxy, "listening");
	const prefix = `geoswap:test:${randomUUID()}`;
	const redis = new Redis(redisUrl);
	const rateLimits = createRateLimits({
		redisUrl: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
		unauthenticatedPerSecond: 1,
		prefix,
	});
	await expect
		.poll(async () => {
			await rateLimits.takeForKey({ keyId: "warm", operation: "quote", perSecond: 100 });
			return redis.exists(`${prefix}:warm:quote`);
		}, patience)
		.toBe(1);
	for (const client of clients) client.unpipe();
	await expectLimited(rateLimits);
	rateLimits.close();
	for (const client of clients) client.destroy();
	proxy.close();
	await redis.del(`${prefix}:warm:quote`);
	redis.disconnect();
});

test("an address counts alone, and all of an IPv6 network as one", async () => {
	const rateLimits = createRateLimits({ redisUrl, unauthenticatedPerSecond: 0.1 });
	const allowed = async (address: string) => (await rateLimits.takeForAddress(address)).isAllowed;
	expect([await allowed("10.0.0.1"), await allowed("10.0.0.1"), await allowed("10.0.0.1")]).toEqual([
		true,
		true,
		false,
	]);
	expect(await allowed("10.0.0.2")).toBe(true);
	expect([
		await allowed("2001:db8::1"),
		await allowed("2001:db8:0:0:5::2"),
		await allowed("2001:db8::ffff:3"),
	]).toEqual([true, true, false]);
	expect(await allowed("2001:db8:0:1::1")).toBe(true);
	expect([
		await allowed("::ffff:10.0.0.3"),
		await allowed("::ffff:10.0.0.4"),
		await allowed("::ffff:10.0.0.5"),
	]).toEqual([true, true, true]);
	rateLimits.close();
});
