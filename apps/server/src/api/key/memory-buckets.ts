import { type Bucket, type Taken, takeToken } from "./token-bucket.ts";

/** Token buckets of this process alone. */
export type MemoryBuckets = {
	take(name: string, bucket: Bucket): Taken;
	giveBack(name: string, bucket: Bucket): void;
	/** Returns the state of a bucket that has no token now, or undefined if it has one. Takes nothing. */
	refusal(name: string, bucket: Bucket): Taken | undefined;
	/** Stores the state of a bucket that Redis counts. */
	note(name: string, taken: Taken): void;
	/** Returns the number of stored buckets. */
	size(): number;
};

/**
 * Creates buckets and remembers at most `maxEntries`. Beyond that, the bucket that changed longest ago becomes full
 * again.
 */
export function createMemoryBuckets({
	maxEntries = 100_000,
	nowUs = () => Math.floor(performance.now() * 1_000),
}: {
	maxEntries?: number;
	nowUs?: () => number;
} = {}): MemoryBuckets {
	/** The time at which each bucket is full, by name, in the order of their last changes. */
	const fullAtUs = new Map<string, number>();

	/**
	 * Drops the oldest buckets that are full, since a full one equals an unused one, or that are too many. Each call
	 * adds at most one bucket, so checking two is enough.
	 */
	function forgetOldest(now: number): void {
		let looked = 0;
		for (const [name, fullAt] of fullAtUs) {
			if (fullAt > now && fullAtUs.size <= maxEntries) return;
			fullAtUs.delete(name);
			if (++looked === 2) return;
		}
	}

	function remember(name: string, fullAt: number, now: number): void {
		fullAtUs.delete(name);
		fullAtUs.set(name, fullAt);
		forgetOldest(now);
	}

	return {
		take(name, bucket) {
			const now = nowUs();
			const taken = takeToken(bucket, { fullAtUs: fullAtUs.get(name), nowUs: now });
			if (!taken.isAllowed) return taken;
			remember(name, now + taken.untilFullUs, now);
			return taken;
		},
		giveBack(name, { intervalUs }) {
			const fullAt = fullAtUs.get(name);
			if (fullAt !== undefined) fullAtUs.set(name, fullAt - intervalUs);
		},
		refusal(name, bucket) {
			const fullAt = fullAtUs.get(name);
			if (fullAt === undefined) return undefined;
			const taken = takeToken(bucket, { fullAtUs: fullAt, nowUs: nowUs() });
			return taken.isAllowed ? undefined : taken;
		},
		note(name, { untilFullUs }) {
			const now = nowUs();
			remember(name, now + untilFullUs, now);
		},
		size: () => fullAtUs.size,
	};
}
