import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTcpProxy } from "../../../test/service/tcp-proxy.ts";
import { connectTestRedis, type TestRedis } from "../../../test/service/test-redis.ts";
import { connectRedis, type PromptRedis } from "./prompt-redis.ts";
import { createRateLimits, type RateLimits, type RateState } from "./rate-limits.ts";

let shared: TestRedis;
beforeAll(async () => {
	shared = await connectTestRedis({ processes: 2 });
});
afterAll(() => shared.close());

function limitsWith(redis: PromptRedis | undefined, options: { nowUs?: () => number } = {}): RateLimits {
	if (!redis) throw new Error("no connection");
	return createRateLimits({ redis, prefix: shared.prefix, unauthenticatedPerSecond: 0.1, ...options });
}

const noRedis: PromptRedis = { run: async () => undefined, close: () => {} };

test("processes count a key's requests together, per operation", async () => {
	const processes = shared.connections.map((redis) => limitsWith(redis));
	for (const operation of ["quote", "status"] as const) {
		const ofK: (RateState | undefined)[] = [];
		const ofL: (RateState | undefined)[] = [];
		for (let i = 0; i < 12; i++) {
			const limits = processes[i % 2];
			ofK.push(await limits?.takeForKey({ keyId: "k", operation, perSecond: 0.01 }));
			ofL.push(await limits?.takeForKey({ keyId: "l", operation, perSecond: 0.5 }));
		}
		expect(ofK.map((state) => state?.isAllowed)).toEqual([true, ...Array(11).fill(false)]);
		expect(ofL.map((state) => state?.isAllowed)).toEqual([...Array(10).fill(true), false, false]);
		expect(ofL.map((state) => state?.remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
		// Seconds until the bucket is full again; for a refused request, until there is a token.
		expect(ofL.map((state) => state?.resetSeconds)).toEqual([
			...[2, 4, 6, 8, 10, 12, 14, 16, 18, 20],
			...[2, 2],
		]);
		expect(ofK.at(-1)).toEqual({ isAllowed: false, limit: 1, remaining: 0, resetSeconds: 100 });
	}
});

test("a caller above its limit costs one call to Redis per waiting time, not one per request", async () => {
	const [redis] = shared.connections;
	let calls = 0;
	let now = 0;
	const counting: PromptRedis = {
		run: (...args) => {
			calls++;
			return redis?.run(...args) ?? Promise.resolve(undefined);
		},
		close: () => {},
	};
	const limits = limitsWith(counting, { nowUs: () => now });
	const take = () => limits.takeForKey({ keyId: "above", operation: "quote", perSecond: 0.05 });
	for (let i = 0; i < 1_000; i++) expect((await take()).isAllowed).toBe(i === 0);
	expect(calls).toBe(1);
	// The time has passed for this process, but not according to the clock of Redis.
	now += 30_000_000;
	expect((await take()).isAllowed).toBe(false);
	expect((await take()).isAllowed).toBe(false);
	expect(calls).toBe(2);
});

test("a raised limit takes effect immediately, even if the key was just refused under the old one", async () => {
	const limits = limitsWith(shared.connections[0]);
	const take = (perSecond: number) => limits.takeForKey({ keyId: "raised", operation: "quote", perSecond });
	expect([await take(0.001), await take(0.001)].map(({ isAllowed }) => isAllowed)).toEqual([true, false]);
	expect(await take(1)).toMatchObject({ isAllowed: true, limit: 20 });
});

test("a short outage of Redis gives no key another burst, because the process continues from the last known count", async () => {
	const [redis] = shared.connections;
	let isSilent = false;
	const blinking: PromptRedis = {
		run: async (...args) => (isSilent ? undefined : redis?.run(...args)),
		close: () => {},
	};
	const limits = limitsWith(blinking);
	const allowed = [];
	for (let i = 0; i < 12; i++) {
		isSilent = i >= 6;
		const { isAllowed } = await limits.takeForKey({ keyId: "blink", operation: "quote", perSecond: 0.5 });
		allowed.push(isAllowed);
	}
	expect(allowed).toEqual([...Array(10).fill(true), false, false]);
});

/** Expects that ten of twelve requests are allowed, without long waits. */
async function expectLimited(limits: RateLimits, { withinMs }: { withinMs: number }): Promise<void> {
	const started = performance.now();
	const allowed = [];
	for (let i = 0; i < 12; i++) {
		const { isAllowed } = await limits.takeForKey({ keyId: "k", operation: "build", perSecond: 0.5 });
		allowed.push(isAllowed);
	}
	expect(allowed).toEqual([...Array(10).fill(true), false, false]);
	expect(performance.now() - started).toBeLessThan(withinMs);
}

test("without Redis limits are still enforced and no request fails", async () => {
	const redis = connectRedis({ url: "redis://127.0.0.1:1" });
	await expectLimited(limitsWith(redis), { withinMs: 1_000 });
	redis.close();
});

test("a Redis that stops responding costs one timeout, not one per request, and is used again once it responds", async () => {
	const proxy = await startTcpProxy(Number(new URL(inject("redisUrl")).port || 6379));
	const proxied = await connectTestRedis({
		processes: 1,
		url: `redis://127.0.0.1:${proxy.port}`,
		timeoutMs: 400,
	});
	const limits = limitsWith(proxied.connections[0]);
	try {
		proxy.setSilent(true);
		// Twelve waits would take five seconds.
		await expectLimited(limits, { withinMs: 2_000 });
		proxy.setSilent(false);
		await expect
			.poll(
				async () => {
					await limits.takeForKey({ keyId: "back", operation: "quote", perSecond: 100 });
					return shared.redis.exists(`${shared.prefix}:back:quote`);
				},
				{ timeout: 10_000 },
			)
			.toBe(1);
	} finally {
		await proxied.close();
		proxy.close();
	}
});

test("each IPv4 address is counted separately, and each IPv6 /64 network as one", () => {
	const limits = limitsWith(noRedis);
	const allowed = (address: string) => limits.takeForAddress(address, "unauthenticated").isAllowed;
	expect(["10.0.0.1", "10.0.0.1", "10.0.0.1"].map(allowed)).toEqual([true, true, false]);
	expect(allowed("10.0.0.2")).toBe(true);
	expect(["2001:db8::1", "2001:db8:0:0:5::2", "2001:db8::ffff:3"].map(allowed)).toEqual([true, true, false]);
	expect(allowed("2001:db8:0:1::1")).toBe(true);
	expect(["2001:0DB8:0:2::2", "[2001:db8:0:2::3]:443", "2001:db8:00:2::1.2.3.4%a"].map(allowed)).toEqual([
		...[true, true],
		false,
	]);
	expect(["10.0.0.3", "::ffff:10.0.0.3", "::ffff:10.0.0.3", "::ffff:10.0.0.4"].map(allowed)).toEqual([
		...[true, true, false],
		true,
	]);
	expect(["1.2.3.4", "1.2.3.4:55", "::FFFF:102:304", "0:0:0:0:0:ffff:1.2.3.4"].map(allowed)).toEqual([
		...[true, true],
		...[false, false],
	]);
	expect(allowed("::1")).toBe(true);
	// Texts from a proxy that are not addresses share one bucket, and are stored once.
	expect(["unknown", "x".repeat(10_000), ""].map(allowed)).toEqual([true, true, false]);
});

test("an address that is refused without a key stays refused until its time; public pages and preflights are counted separately", () => {
	let now = 0;
	const limits = limitsWith(noRedis, { nowUs: () => now });
	expect(limits.refusalOf("10.0.0.1")).toBeUndefined();
	for (const isAllowed of [true, true, false]) {
		expect(limits.takeForAddress("10.0.0.1", "unauthenticated").isAllowed).toBe(isAllowed);
	}
	expect(limits.refusalOf("10.0.0.1")).toEqual({
		isAllowed: false,
		limit: 2,
		remaining: 0,
		resetSeconds: 10,
	});
	expect(limits.refusalOf("10.0.0.2")).toBeUndefined();
	for (const kind of ["public", "preflight"] as const) {
		const answers = Array.from({ length: 21 }, () => limits.takeForAddress("10.0.0.1", kind).isAllowed);
		expect(answers).toEqual([...Array(20).fill(true), false]);
	}
	now = 10_000_000;
	expect(limits.refusalOf("10.0.0.1")).toBeUndefined();
});

test("requests for public pages of swaps have a separate limit by address", () => {
	const limits = createRateLimits({
		redis: noRedis,
		unauthenticatedPerSecond: 0.1,
		sharePagesPerSecond: 0.05,
		nowUs: () => 0,
	});
	const take = () => limits.takeForAddress("203.0.113.7", "share").isAllowed;
	while (take());
	expect(limits.takeForAddress("203.0.113.7", "public").isAllowed).toBe(true);
	expect(limits.takeForAddress("203.0.113.7", "unauthenticated").isAllowed).toBe(true);
	expect(limits.takeForAddress("203.0.113.8", "share").isAllowed).toBe(true);
});
