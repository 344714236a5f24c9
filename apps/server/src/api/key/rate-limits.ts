import type { Operation } from "./api-keys.ts";
import { createMemoryBuckets } from "./memory-buckets.ts";
import { networkOf } from "./network-of.ts";
import type { PromptRedis } from "./prompt-redis.ts";
import { createRedisBuckets } from "./redis-buckets.ts";
import { type Bucket, bucketOf, type Taken, tokensLeft, untilTokenUs } from "./token-bucket.ts";

/** Where a caller stands after a request. */
export type RateState = {
	isAllowed: boolean;
	/** All that may come at once. */
	limit: number;
	/** What may still come at once now. */
	remaining: number;
	/** Until the next request is let through, for one that is refused; else until `remaining` is `limit` again. */
	resetSeconds: number;
};

/** What is counted by address: what should have shown a key, what needs none, and what browsers ask beforehand. */
type AddressKind = "unauthenticated" | "public" | "preflight";

export type RateLimits = {
	/** Counts a request of a key. */
	takeForKey(request: { keyId: string; operation: Operation; perSecond: number }): Promise<RateState>;
	/**
	 * Counts a status call that was to be held and is not. Where it is allowed, the key gets back the token that the call
	 * took as a status call: callers that ask again at once share a rate of their own, and leave that of the others alone.
	 */
	takeUnheld(call: { keyId: string; perSecond: number }): Promise<RateState>;
	/** Counts a request of an address. */
	takeForAddress(address: string, kind: AddressKind): RateState;
	/** Where an address stands that may send nothing without a key now; undefined where it may. Counts nothing. */
	refusalOf(address: string): RateState | undefined;
};

/** As far as admitting requests needs them. */
export type RequestLimits = Omit<RateLimits, "takeUnheld">;

/** A page and the files of it are worth more than a wrong key. */
const publicFactor = 10;

/**
 * Limits of keys are counted in Redis, for all processes together. Where Redis does not answer at once each process
 * counts for itself; no request fails or waits for it. Addresses are counted in the process: there is no end to them.
 */
export function createRateLimits({
	redis,
	unauthenticatedPerSecond,
	prefix = "geoswap:rate",
	nowUs = () => Math.floor(performance.now() * 1_000),
}: {
	redis: PromptRedis;
	unauthenticatedPerSecond: number;
	prefix?: string;
	nowUs?: () => number;
}): RateLimits {
	const shared = createRedisBuckets({ redis, prefix });
	/**
	 * As Redis last said. Nothing but time fills a bucket: while one is empty here nobody need ask. And whoever must count
	 * alone goes on from there: a Redis that blinks gives nobody another burst.
	 */
	const own = createMemoryBuckets({ nowUs });
	const publicBucket = bucketOf(unauthenticatedPerSecond * publicFactor);
	const addresses = {
		unauthenticated: { bucket: bucketOf(unauthenticatedPerSecond), counts: createMemoryBuckets({ nowUs }) },
		public: { bucket: publicBucket, counts: createMemoryBuckets({ nowUs }) },
		// A page's requests must not fail since somebody else there looks for paths that do not exist.
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

/** Never too early, and never zero: who waits no time asks for ever. */
function wholeSeconds(us: number): number {
	return Math.max(1, Math.ceil(us / 1_000_000));
}
