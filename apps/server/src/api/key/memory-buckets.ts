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

/**
 * A token bucket. Each request takes a token, and one comes back every interval until the bucket is full. So the
 * whole capacity may be used in one burst, and in any time t at most the capacity plus the tokens that come back in
 * t.
 */
export type Bucket = {
	capacity: number;
	/** The time in which one token comes back, in whole microseconds so that all arithmetic is exact. */
	intervalUs: number;
};

/** The state of a bucket after a request. */
export type Taken = {
	isAllowed: boolean;
	/** The time until the bucket is full again. It alone determines how many tokens there are. */
	untilFullUs: number;
};

/** Buckets by name, all full at first. */
export type TokenBuckets = {
	/** Takes a token. Undefined if the buckets cannot be reached promptly. */
	take(name: string, bucket: Bucket): Taken | Promise<Taken | undefined>;
	/** Puts back a token that was taken. */
	giveBack(name: string, bucket: Bucket): void;
};

/** A burst may be as large as the requests allowed in this time. */
const burstSeconds = 20;

export function bucketOf(perSecond: number): Bucket {
	return {
		capacity: Math.max(1, Math.ceil(perSecond * burstSeconds)),
		intervalUs: Math.ceil(1_000_000 / perSecond),
	};
}

/** Takes a token from a bucket that is full at `fullAtUs`. */
function takeToken(
	{ capacity, intervalUs }: Bucket,
	{ fullAtUs, nowUs }: { fullAtUs: number | undefined; nowUs: number },
): Taken {
	const emptyUs = capacity * intervalUs;
	const untilFullUs = Math.max((fullAtUs ?? 0) - nowUs, 0);
	// A bucket cannot be emptier than empty. The clock was set back, and callers need not wait until it has caught up.
	const beforeUs = untilFullUs > emptyUs ? 0 : untilFullUs;
	const afterUs = beforeUs + intervalUs;
	return afterUs > emptyUs
		? { isAllowed: false, untilFullUs: beforeUs }
		: { isAllowed: true, untilFullUs: afterUs };
}

export function tokensLeft({ capacity, intervalUs }: Bucket, { untilFullUs }: Taken): number {
	return Math.floor((capacity * intervalUs - untilFullUs) / intervalUs);
}

/** Returns the time until the next token. */
export function untilTokenUs({ capacity, intervalUs }: Bucket, { untilFullUs }: Taken): number {
	return Math.max(untilFullUs + intervalUs - capacity * intervalUs, 0);
}
