/** `a * b / divisor`, rounded down: for what is paid out. */
export function mulDivDown(a: bigint, b: bigint, divisor: bigint): bigint {
	assertNatural(a, b, divisor);
	return (a * b) / divisor;
}

/** `a * b / divisor`, rounded up: for what is charged. */
export function mulDivUp(a: bigint, b: bigint, divisor: bigint): bigint {
	assertNatural(a, b, divisor);
	return (a * b + divisor - 1n) / divisor;
}

/** The same value with another number of decimals, rounded down. */
export function rescaleDown(amount: bigint, fromDecimals: number, toDecimals: number): bigint {
	return mulDivDown(amount, 10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals));
}

/** The same value with another number of decimals, rounded up. */
export function rescaleUp(amount: bigint, fromDecimals: number, toDecimals: number): bigint {
	return mulDivUp(amount, 10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals));
}

/** The smaller of two: `Math.min` does not take bigints. */
export function lesser(a: bigint, b: bigint): bigint {
	return a < b ? a : b;
}

/** The larger of two. */
export function greater(a: bigint, b: bigint): bigint {
	return a > b ? a : b;
}

/** A number of dollars from a config, in cents, rounded down. */
export function usdCents(usd: number): bigint {
	return BigInt(Math.floor(usd * 100));
}

// Division of bigints truncates toward zero: below zero "down" would be up.
function assertNatural(a: bigint, b: bigint, divisor: bigint): void {
	if (a < 0n || b < 0n || divisor <= 0n) throw new RangeError(`cannot scale ${a} by ${b} / ${divisor}`);
}
