import type { Seconds } from "@geoswap/protocol";
import type { Operation } from "./api-keys.ts";
import { networkOf } from "./key-networks.ts";
import {
	type Bucket,
	bucketOf,
	createMemoryBuckets,
	type Taken,
	tokensLeft,
	untilTokenUs,
} from "./memory-buckets.ts";
import type { PromptRedis } from "./prompt-redis.ts";
import { createRedisBuckets } from "./redis-buckets.ts";

/** The state of a caller's rate after a request. */
export type RateState = {
	isAllowed: boolean;
	/** The number of requests in a full burst. */
	limit: number;
	/** The number of requests left in the burst now. */
	remaining: number;
	/** Seconds until the next request is allowed if this one is refused; otherwise until `remaining` is `limit` again. */
	resetSeconds: Seconds;
};

/**
 * Requests counted by address: those that should have had a key, those that need none, those for public pages of
 * swaps, and browsers' preflights.
 */
export type AddressKind = "unauthenticated" | "public" | "share" | "preflight";

export type RateLimits = {
	/** Counts a request of a key. */
	takeForKey(request: { keyId: string; operation: Operation; perSecond: number }): Promise<RateState>;
	/**
	 * Counts a status call that should have been held and is not. If it is allowed, the key gets back the token that
	 * the call took as a status call. So callers that immediately call again share a separate rate and do not use up
	 * that of the others.
	 */
	takeUnheld(call: { keyId: string; perSecond: number }): Promise<RateState>;
	/** Counts a request of an address. */
	takeForAddress(address: string, kind: AddressKind): RateState;
	/**
	 * Returns the state of an address that may not send requests without a key now, or undefined if it may. Counts
	 * nothing.
	 */
	refusalOf(address: string): RateState | undefined;
};

/** The limits that are needed to admit requests. */
export type RequestLimits = Omit<RateLimits, "takeUnheld">;

/** Public requests allowed for each request with a wrong key, since a page and its files deserve a higher limit. */
const publicFactor = 10;

/**
 * Creates rate limits. Those of keys are counted in Redis, for all processes together. If Redis does not answer
 * promptly, each process counts for itself, and no request fails or waits for Redis. Addresses are counted in the
 * process, because their number is unlimited.
 */
export function createRateLimits({
	redis,
	unauthenticatedPerSecond,
	sharePagesPerSecond = unauthenticatedPerSecond,
	prefix = "geoswap:rate",
	nowUs = () => Math.floor(performance.now() * 1_000),
}: {
	redis: PromptRedis;
	unauthenticatedPerSecond: number;
	sharePagesPerSecond?: number;
	prefix?: string;
	nowUs?: () => number;
}): RateLimits {
	const shared = createRedisBuckets({ redis, prefix });
	/**
	 * The buckets as Redis last reported them. Only time fills a bucket, so while one is empty here, Redis need not be
	 * queried. A process that must count alone continues from there, so a short outage of Redis allows no caller
	 * another burst.
	 */
	const own = createMemoryBuckets({ nowUs });
	const publicBucket = bucketOf(unauthenticatedPerSecond * publicFactor);
	const addresses = {
		unauthenticated: { bucket: bucketOf(unauthenticatedPerSecond), counts: createMemoryBuckets({ nowUs }) },
		public: { bucket: publicBucket, counts: createMemoryBuckets({ nowUs }) },
		// These read the database, unlike other public pages.
		share: { bucket: bucketOf(sharePagesPerSecond), counts: createMemoryBuckets({ nowUs }) },
		// Separate, because a page's preflights must not fail when another client at its address requests paths that do
		// not exist.
		preflight: { bucket: publicBucket, counts: createMemoryBuckets({ nowUs }) },
	};

	async function take(name: string, bucket: Bucket): Promise<RateState> {
		const refusal = own.refusal(name, bucket);
		if (refusal) return stateOf(bucket, refusal);
		const taken = await shared.take(name, bucket);
		if (!taken) return stateOf(bucket, own.take(name, bucket));
		own.note(name, taken);
		return stateOf(bucket, taken);
	}

	return {
		takeForKey: ({ keyId, operation, perSecond }) => take(`${keyId}:${operation}`, bucketOf(perSecond)),
		async takeUnheld({ keyId, perSecond }) {
			const bucket = bucketOf(perSecond);
			const state = await take(`${keyId}:unheld`, bucket);
			if (!state.isAllowed) return state;
			const status: Operation = "status";
			for (const buckets of [shared, own]) buckets.giveBack(`${keyId}:${status}`, bucket);
			return state;
		},
		takeForAddress(address, kind) {
			const { bucket, counts } = addresses[kind];
			return stateOf(bucket, counts.take(networkOf(address), bucket));
		},
		refusalOf(address) {
			const { bucket, counts } = addresses.unauthenticated;
			const taken = counts.refusal(networkOf(address), bucket);
			return taken && stateOf(bucket, taken);
		},
	};
}

function stateOf(bucket: Bucket, taken: Taken): RateState {
	const { isAllowed } = taken;
	return {
		isAllowed,
		limit: bucket.capacity,
		remaining: isAllowed ? tokensLeft(bucket, taken) : 0,
		resetSeconds: wholeSeconds(isAllowed ? taken.untilFullUs : untilTokenUs(bucket, taken)),
	};
}

/** Rounds up, to at least one second, because a caller told to wait zero seconds would retry in a loop. */
function wholeSeconds(us: number): number {
	return Math.max(1, Math.ceil(us / 1_000_000));
}
