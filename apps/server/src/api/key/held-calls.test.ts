import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectTestRedis, type TestRedis } from "../../../test/service/test-redis.ts";
import { createHeldCalls, type HeldCalls } from "./held-calls.ts";
import { connectRedis } from "./prompt-redis.ts";

let shared: TestRedis;
let one: HeldCalls;
let two: HeldCalls;
beforeAll(async () => {
	shared = await connectTestRedis({ processes: 2 });
	[one, two] = [heldCallsOf(0), heldCallsOf(1)];
});
afterAll(() => shared.close());

function heldCallsOf(process: number): HeldCalls {
	const redis = shared.connections[process];
	if (!redis) throw new Error(`no process ${process}`);
	return createHeldCalls({ redis, prefix: shared.prefix });
}

const allowance = { limit: 3, seconds: 15 };

test("a key can hold a limited number of calls across all processes, and a call that ends makes room", async () => {
	const key = randomUUID();
	const held = await Promise.all([
		one.take(key, allowance),
		two.take(key, allowance),
		one.take(key, allowance),
		two.take(key, allowance),
		one.take(key, allowance),
	]);
	expect(held.filter(Boolean)).toHaveLength(3);
	expect(await two.take(key, allowance)).toBeUndefined();
	expect(await two.take(randomUUID(), allowance)).toBeDefined();
	held.find(Boolean)?.();
	await expect.poll(() => two.take(key, allowance), { timeout: 10_000 }).toBeDefined();
	expect(await one.take(key, allowance)).toBeUndefined();
});

test("leases of a process that died expire, and their entry in Redis has a TTL", async () => {
	const key = randomUUID();
	const dead = heldCallsOf(0);
	// The calls have already ended as far as Redis can tell, because their time has passed.
	for (let i = 0; i < 3; i++) expect(await dead.take(key, { limit: 3, seconds: -4.95 })).toBeDefined();
	await expect.poll(() => two.take(key, allowance), { timeout: 10_000 }).toBeDefined();
	const livesMs = await shared.redis.pttl(`${shared.prefix}:${key}`);
	expect(livesMs).toBeGreaterThan(15_000);
	expect(livesMs).toBeLessThanOrEqual(20_000);
});

test("a call that ends while Redis does not respond makes room once Redis responds again", async () => {
	const [redis] = shared.connections;
	let isSilent = false;
	let calls = 0;
	const blinking = createHeldCalls({
		redis: {
			run: async (...args) => {
				calls++;
				return isSilent ? undefined : redis?.run(...args);
			},
		},
		prefix: shared.prefix,
	});
	const key = randomUUID();
	const held = [];
	for (let i = 0; i < 3; i++) held.push(await blinking.take(key, allowance));
	isSilent = true;
	for (const release of held) release?.();
	isSilent = false;
	expect(await two.take(key, allowance)).toBeUndefined();
	// The first call that reaches Redis again gives the leases back, regardless of its key.
	await blinking.take(randomUUID(), allowance);
	await expect.poll(() => shared.redis.zcard(`${shared.prefix}:${key}`), { timeout: 10_000 }).toBe(0);
	calls = 0;
	await blinking.take(randomUUID(), allowance);
	expect(calls).toBe(1);
});

test("without Redis each process counts only its calls, without waiting", async () => {
	const gone = connectRedis({ url: "redis://127.0.0.1:1" });
	const alone = createHeldCalls({ redis: gone });
	const started = performance.now();
	const held = [];
	for (let i = 0; i < 5; i++) held.push(await alone.take("k", allowance));
	expect(held.map(Boolean)).toEqual([true, true, true, false, false]);
	held[0]?.();
	expect(await alone.take("k", allowance)).toBeDefined();
	expect(await alone.take("k", allowance)).toBeUndefined();
	expect(performance.now() - started).toBeLessThan(5_000);
	gone.close();
});
