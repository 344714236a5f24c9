import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectTestRedis, type TestRedis } from "../../../test/service/test-redis.ts";
import {
	type Bucket,
	bucketOf,
	createMemoryBuckets,
	type TokenBuckets,
	tokensLeft,
	untilTokenUs,
} from "./memory-buckets.ts";
import type { PromptRedis } from "./prompt-redis.ts";
import { createRedisBuckets } from "./redis-buckets.ts";

let shared: TestRedis;
beforeAll(async () => {
	shared = await connectTestRedis({ processes: 2 });
});
afterAll(() => shared.close());

/** The buckets of several processes, and a clock that can be advanced. */
type World = { processes: readonly TokenBuckets[]; nowUs: () => number; pass: (us: number) => Promise<void> };

function memoryWorld(): World {
	let now = 5_000_000;
	return {
		processes: [createMemoryBuckets({ nowUs: () => now })],
		nowUs: () => now,
		pass: async (us) => {
			now += us;
		},
	};
}

function redisWorld(): World {
	return {
		processes: redisBuckets(),
		nowUs: () => performance.now() * 1_000,
		pass: async (us) => {
			await sleep(us / 1_000);
		},
	};
}

/** Returns the buckets of each process. */
function redisBuckets(): TokenBuckets[] {
	return shared.connections.map((redis) => createRedisBuckets({ redis, prefix: shared.prefix }));
}

/** The outcome of a request, and the times between which it was counted. */
type Counted = { isAllowed: boolean; fromUs: number; toUs: number };

/** Sends the given requests to a bucket that nothing else uses. */
async function send(
	{ processes, nowUs, pass }: World,
	bucket: Bucket,
	steps: readonly { pauseUs: number; requests: number }[],
): Promise<Counted[]> {
	const name = randomUUID();
	const counted: Counted[] = [];
	for (const { pauseUs, requests } of steps) {
		if (pauseUs > 0) await pass(pauseUs);
		for (let i = 0; i < requests; i++) {
			const fromUs = nowUs();
			const taken = await processes[i % processes.length]?.take(name, bucket);
			if (!taken) throw new Error("the buckets cannot be reached");
			counted.push({ isAllowed: taken.isAllowed, fromUs, toUs: nowUs() });
		}
	}
	return counted;
}

/** The clocks of two processes do not agree to the microsecond. */
const driftUs = 1_000;

function expectNoMore(counted: readonly Counted[], { capacity, intervalUs }: Bucket): void {
	const allowed = counted.filter(({ isAllowed }) => isAllowed);
	for (const [i, first] of allowed.entries()) {
		for (const [j, last] of allowed.slice(i).entries()) {
			const most = capacity + (last.toUs - first.fromUs + driftUs) / intervalUs;
			expect(j + 1).toBeLessThanOrEqual(most);
		}
	}
}

/**
 * Expects that a request is refused only if, within some period before it, earlier requests took all tokens that were
 * there and all that came back.
 */
function expectNoFewer(counted: readonly Counted[], { capacity, intervalUs }: Bucket): void {
	for (const [k, refused] of counted.entries()) {
		if (refused.isAllowed) continue;
		const before = counted.slice(0, k).filter(({ isAllowed }) => isAllowed);
		const isEmpty = before.some((first, i) => {
			const passedUs = Math.max(refused.fromUs - first.toUs - driftUs, 0);
			return before.length - i + 1 > capacity + passedUs / intervalUs;
		});
		expect(isEmpty).toBe(true);
	}
}

const stepsOf = (maxPauseUs: number) =>
	fc.array(fc.record({ pauseUs: fc.nat(maxPauseUs), requests: fc.integer({ min: 1, max: 12 }) }), {
		minLength: 1,
		maxLength: 12,
	});

describe.each([
	{ where: "in memory", world: memoryWorld, numRuns: 300 },
	{ where: "in Redis, used by two processes", world: redisWorld, numRuns: 12 },
])("$where", ({ world, numRuns }) => {
	test("any window lets through at most the burst plus the rate, and no request within that is refused", async () => {
		const buckets = fc.record({
			capacity: fc.integer({ min: 1, max: 10 }),
			intervalUs: fc.integer({ min: 3_000, max: 20_000 }),
		});
		await fc.assert(
			fc.asyncProperty(buckets, stepsOf(60_000), async (bucket, steps) => {
				const counted = await send(world(), bucket, steps);
				expectNoMore(counted, bucket);
				expectNoFewer(counted, bucket);
			}),
			{ numRuns },
		);
	});

	test("a full bucket can be emptied in one burst, and returns how many tokens are left and when the next one comes", async () => {
		const { processes, pass } = world();
		const bucket = { capacity: 3, intervalUs: 10_000_000 };
		const name = randomUUID();
		const left: number[] = [];
		for (let i = 0; i < 3; i++) {
			const taken = await processes[0]?.take(name, bucket);
			if (!taken?.isAllowed) throw new Error("refused");
			left.push(tokensLeft(bucket, taken));
			expect(taken.untilFullUs).toBeGreaterThan((i + 1) * bucket.intervalUs - 5_000_000);
		}
		expect(left).toEqual([2, 1, 0]);
		await pass(1_000);
		const refused = await processes.at(-1)?.take(name, bucket);
		if (!refused) throw new Error("no answer");
		expect(refused.isAllowed).toBe(false);
		expect(untilTokenUs(bucket, refused)).toBeLessThan(bucket.intervalUs);
		expect(untilTokenUs(bucket, refused)).toBeGreaterThan(bucket.intervalUs - 5_000_000);
	});
});

test("a rate of R per second is a bucket of 20 R tokens", () => {
	expect(bucketOf(20)).toEqual({ capacity: 400, intervalUs: 50_000 });
	expect(bucketOf(0.5)).toEqual({ capacity: 10, intervalUs: 2_000_000 });
	expect(bucketOf(0.01)).toEqual({ capacity: 1, intervalUs: 100_000_000 });
	expect(bucketOf(3)).toEqual({ capacity: 60, intervalUs: 333_334 });
});

test("requests of one event-loop turn are one call to Redis, with the same outcome as separate calls", async () => {
	const [redis] = shared.connections;
	let calls = 0;
	let isSilent = false;
	const counting: PromptRedis = {
		run: async (...question) => {
			calls++;
			return isSilent ? undefined : redis?.run(...question);
		},
		close: () => {},
	};
	const buckets = createRedisBuckets({ redis: counting, prefix: shared.prefix });
	const [one, other] = [randomUUID(), randomUUID()];
	const intervalUs = 100_000_000;
	const takeTogether = () =>
		Promise.all([
			...Array.from({ length: 5 }, () => buckets.take(one, { capacity: 3, intervalUs })),
			buckets.take(other, { capacity: 1, intervalUs }),
			// The limit of the first bucket was just raised.
			buckets.take(one, { capacity: 4, intervalUs }),
		]);
	const taken = await takeTogether();
	expect(taken.map((state) => state?.isAllowed)).toEqual([true, true, true, false, false, true, true]);
	expect(taken.map((state) => (state?.untilFullUs ?? 0) / intervalUs)).toEqual([1, 2, 3, 3, 3, 1, 4]);
	expect(await buckets.take(one, { capacity: 4, intervalUs })).toMatchObject({ isAllowed: false });
	expect(calls).toBe(2);
	isSilent = true;
	expect(await takeTogether()).toEqual(Array(7).fill(undefined));
});

test("a bucket in Redis expires when it would be full", async () => {
	const [buckets] = redisBuckets();
	for (const requests of [1, 2]) {
		const name = randomUUID();
		for (let i = 0; i < requests; i++) await buckets?.take(name, { capacity: 5, intervalUs: 20_000_000 });
		const livesMs = await shared.redis.pttl(`${shared.prefix}:${name}`);
		expect(livesMs).toBeGreaterThan(requests * 20_000 - 10_000);
		expect(livesMs).toBeLessThanOrEqual(requests * 20_000);
	}
});

test("a clock that is set back causes no refusal", async () => {
	let now = 1e15;
	const memory = createMemoryBuckets({ nowUs: () => now });
	const bucket = { capacity: 2, intervalUs: 1_000_000 };
	memory.take("a", bucket);
	now -= 3_600_000_000;
	expect(memory.take("a", bucket).isAllowed).toBe(true);

	const name = randomUUID();
	await shared.redis.set(`${shared.prefix}:${name}`, String((Date.now() + 3_600_000) * 1_000));
	const taken = await redisBuckets()[0]?.take(name, bucket);
	expect(taken?.isAllowed).toBe(true);
});

test("memory holds at most the configured number of buckets, and drops full ones", () => {
	let now = 0;
	const bucket = { capacity: 2, intervalUs: 1_000 };
	const memory = createMemoryBuckets({ maxEntries: 100, nowUs: () => now });
	for (let i = 0; i < 1_000; i++) memory.take(`a${i}`, bucket);
	expect(memory.size()).toBe(100);
	now = 10_000;
	for (let i = 0; i < 100; i++) memory.take("b", bucket);
	expect(memory.size()).toBeLessThanOrEqual(100);
	for (let i = 0; i < 100; i++) {
		now += 10_000;
		memory.take("b", bucket);
	}
	expect(memory.size()).toBe(1);
});
