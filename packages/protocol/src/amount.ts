import type { UsdCents } from "./units.ts";

/** Returns `a * b / divisor` rounded down, for amounts that are paid out. */
export function mulDivDown(a: bigint, b: bigint, divisor: bigint): bigint {
	assertNatural(a, b, divisor);
	return (a * b) / divisor;
}

/** Returns `a * b / divisor` rounded up, for amounts that are charged. */
export function mulDivUp(a: bigint, b: bigint, divisor: bigint): bigint {
	assertNatural(a, b, divisor);
	return (a * b + divisor - 1n) / divisor;
}

/** Converts an amount to another number of decimals, rounded down. */
export function rescaleDown(amount: bigint, fromDecimals: number, toDecimals: number): bigint {
	return mulDivDown(amount, 10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals));
}

/** Converts an amount to another number of decimals, rounded up. */
export function rescaleUp(amount: bigint, fromDecimals: number, toDecimals: number): bigint {
	return mulDivUp(amount, 10n ** BigInt(toDecimals), 10n ** BigInt(fromDecimals));
}

/** Returns the smaller of two bigints, which `Math.min` does not take. */
export function lesser(a: bigint, b: bigint): bigint {
	return a < b ? a : b;
}

/** Returns the larger of two bigints. */
export function greater(a: bigint, b: bigint): bigint {
	return a > b ? a : b;
}

/** Converts a number of dollars from a config to cents, rounded down. */
export function usdCents(usd: number): UsdCents {
	return BigInt(Math.floor(usd * 100));
}

// Bigint division truncates toward zero, so a negative result would be rounded up instead of down.
function assertNatural(a: bigint, b: bigint, divisor: bigint): void {
	if (a < 0n || b < 0n || divisor <= 0n) throw new RangeError(`cannot scale ${a} by ${b} / ${divisor}`);
}
