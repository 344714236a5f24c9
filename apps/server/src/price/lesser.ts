/** The smaller of two: `Math.min` does not take bigints. */
export function lesser(a: bigint, b: bigint): bigint {
	return a < b ? a : b;
}

/** The larger of two. */
export function greater(a: bigint, b: bigint): bigint {
	return a > b ? a : b;
}
