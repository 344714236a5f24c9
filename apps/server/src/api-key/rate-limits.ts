import { isIPv6 } from "node:net";
import { Redis } from "ioredis";
import {
	type RateLimiterAbstract,
	RateLimiterMemory,
	RateLimiterRedis,
	RateLimiterRes,
} from "rate-limiter-flexible";
import type { Operation } from "./api-keys.ts";

/** Where a caller stands after a request. */
export type RateState = { isAllowed: boolean; limit: number; remaining: number; resetSeconds: number };

export type RateLimits = {
	/** Counts a request of a key. */
	takeForKey(request: { keyId: string; operation: Operation; perSecond: number }): Promise<RateState>;
	/** Counts a request that showed no valid key. */
	takeForAddress(address: string): Promise<RateState>;
	close(): void;
};

/**
 * The burst is twenty times the rate, so a window of twenty seconds holds both: all of it may come at once. Across the
 * border of two windows twice the burst can.
 */
const windowSeconds = 20;

/**
 * Limits of keys are counted in Redis, for all processes together. Where Redis does not answer at once each process
 * counts for itself; no request fails or waits for it. Addresses are counted in the process: there is no end to them.
 */
export function createRateLimits({
	redisUrl,
	unauthenticatedPerSecond,
	prefix = "geoswap:rate",
	redisTimeoutMs = 100,
	onRedisError = () => {},
}: {
	redisUrl: string;
	unauthenticatedPerSecond: number;
	prefix?: string;
	redisTimeoutMs?: number;
	onRedisError?: (error: Error) => void;
}): RateLimits {
	const redis = new Redis(redisUrl, {
		enableOfflineQueue: false,
		maxRetriesPerRequest: 0,
		commandTimeout: redisTimeoutMs,
		connectTimeout: 1_000,
		retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
	});
	redis.on("error", onRedisError);

	const limiters = new Map<number, RateLimiterRedis>();
	function limiterOf(points: number): RateLimiterRedis {
		const known = limiters.get(points);
		if (known) return known;
		const limiter = new RateLimiterRedis({
			storeClient: redis,
			rejectIfRedisNotReady: true,
			keyPrefix: prefix,
			points,
			duration: windowSeconds,
			// A caller far above its limit costs no round trip.
			inMemoryBlockOnConsumed: points + 1,
			insuranceLimiter: new RateLimiterMemory({ points, duration: windowSeconds }),
		});
		limiters.set(points, limiter);
		return limiter;
	}
	const addresses = new RateLimiterMemory({
		points: pointsOf(unauthenticatedPerSecond),
		duration: windowSeconds,
	});

	return {
		takeForKey: ({ keyId, operation, perSecond }) =>
			take(limiterOf(pointsOf(perSecond)), `${keyId}:${operation}`),
		takeForAddress: (address) => take(addresses, networkOf(address)),
		close: () => redis.disconnect(),
	};
}

function pointsOf(perSecond: number): number {
	return Math.ceil(perSecond * windowSeconds);
}

async function take(limiter: RateLimiterAbstract, key: string): Promise<RateState> {
	const [isAllowed, result] = await limiter.consume(key).then(
		(allowed): [boolean, RateLimiterRes] => [true, allowed],
		(refused: unknown): [boolean, RateLimiterRes] => {
			if (refused instanceof RateLimiterRes) return [false, refused];
			throw refused;
		},
	);
	return {
		isAllowed,
		limit: limiter.points,
		remaining: result.remainingPoints,
		resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1_000)),
	};
}

/** Whoever has one IPv6 address has 2^64 of them. */
function networkOf(address: string): string {
	if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
	const [head = "", tail = ""] = address.split("::");
	const groups = head.split(":").filter(Boolean);
	const missing = 8 - groups.length - tail.split(":").filter(Boolean).length;
	const all = address.includes("::") ? [...groups, ...Array<string>(missing).fill("0")] : groups;
	return all.slice(0, 4).join(":");
}
