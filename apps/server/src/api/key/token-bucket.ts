/**
 * A bucket of tokens: each request takes one, and one comes back every so often until it is full. So all of the
 * capacity may come at once, and in any time t no more than the capacity and what comes back in t.
 */
export type Bucket = {
	capacity: number;
	/** In which one token comes back: whole microseconds, so that all arithmetic is exact. */
	intervalUs: number;
};

/** How a bucket stands after a request. */
export type Taken = {
	isAllowed: boolean;
	/** How long it takes to be full again. That alone says how full it is. */
	untilFullUs: number;
};

/** Buckets by name, all full at first. */
export type TokenBuckets = {
	/** Undefined where they cannot be reached at once. */
	take(name: string, bucket: Bucket): Taken | Promise<Taken | undefined>;
	/** Puts back a token that was taken. */
	giveBack(name: string, bucket: Bucket): void;
};

/** All that a caller may send at once is what it may send in this time. */
const burstSeconds = 20;

export function bucketOf(perSecond: number): Bucket {
	return {
		capacity: Math.max(1, Math.ceil(perSecond * burstSeconds)),
		intervalUs: Math.ceil(1_000_000 / perSecond),
	};
}

/** Takes a token from a bucket that is full at `fullAtUs`. */
export function takeToken(
	{ capacity, intervalUs }: Bucket,
	{ fullAtUs, nowUs }: { fullAtUs: number | undefined; nowUs: number },
): Taken {
	const emptyUs = capacity * intervalUs;
	const untilFullUs = Math.max((fullAtUs ?? 0) - nowUs, 0);
	// No bucket is emptier than empty: the clock was set back, and nobody is kept out until it is where it was.
	const beforeUs = untilFullUs > emptyUs ? 0 : untilFullUs;
	const afterUs = beforeUs + intervalUs;
	return afterUs > emptyUs
		? { isAllowed: false, untilFullUs: beforeUs }
		: { isAllowed: true, untilFullUs: afterUs };
}

/** How many tokens are left. */
export function tokensLeft({ capacity, intervalUs }: Bucket, { untilFullUs }: Taken): number {
	return Math.floor((capacity * intervalUs - untilFullUs) / intervalUs);
}

/** How long until there is a token. */
export function untilTokenUs({ capacity, intervalUs }: Bucket, { untilFullUs }: Taken): number {
	return Math.max(untilFullUs + intervalUs - capacity * intervalUs, 0);
}
