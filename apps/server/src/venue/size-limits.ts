type Test = (size: bigint) => boolean;

/** Doubling this often passes every amount that an order can hold. */
const doublings = 128;

/**
 * A size that passes, about a hundredth above the least that does. `tooSmall` does not, and larger ones do until they
 * are too large; undefined where none does.
 */
export function leastPassing(tooSmall: bigint, passes: Test): bigint | undefined {
	let low = tooSmall;
	let high = tooSmall > 0n ? tooSmall : 1n;
	for (let i = 0; !passes(high); i++) {
		if (i === doublings) return undefined;
		low = high;
		high *= 2n;
	}
	while (high - low > high / 200n + 1n) {
		const middle = (low + high) / 2n;
		if (passes(middle)) high = middle;
		else low = middle;
	}
	// Prices move until the caller asks again.
	const roomy = high + high / 200n;
	return passes(roomy) ? roomy : high;
}

/** A size that passes, about a hundredth below the greatest that does; zero where none does. `tooLarge` does not. */
export function greatestPassing(tooLarge: bigint, passes: Test): bigint {
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
