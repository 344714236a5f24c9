type Test = (size: bigint) => boolean;

/** This many doublings exceed every amount that an order can hold. */
const doublings = 128;

/**
 * Returns the smallest size from `from` up that is not too small, or undefined if every size is. Requires that if a
 * size is too small, every smaller one is, too.
 */
export function findMinSize(from: bigint, isTooSmall: Test): bigint | undefined {
	if (!isTooSmall(from)) return from;
	let low = from;
	let high = from > 0n ? 2n * from : 1n;
	for (let i = 0; isTooSmall(high); i++) {
		if (i === doublings) return undefined;
		low = high;
		high *= 2n;
	}
	while (high - low > 1n) {
		const middle = (low + high) / 2n;
		if (isTooSmall(middle)) low = middle;
		else high = middle;
	}
	return high;
}

/** Returns a size that passes, about a hundredth below the largest that does, or zero. `tooLarge` does not pass. */
export function findMaxSize(tooLarge: bigint, passes: Test): bigint {
	let high = tooLarge;
	let low = tooLarge / 2n;
	while (low > 0n && !passes(low)) {
		high = low;
		low /= 2n;
	}
	while (high - low > high / 100n + 1n) {
		const middle = (low + high) / 2n;
		if (passes(middle)) low = middle;
		else high = middle;
	}
	return low;
}
