/** Returns the largest integer whose square is at most `value`. */
export function integerSqrt(value: bigint): bigint {
	if (value < 2n) return value;
	let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
	for (;;) {
		const next = (root + value / root) >> 1n;
		if (next >= root) return root;
		root = next;
	}
}
