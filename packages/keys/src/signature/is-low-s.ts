import type { Hex } from "viem";

const halfOfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Returns whether s is in the lower half. Contracts refuse the other half, because each signature would have a twin.
 */
export function isLowS(s: Hex): boolean {
	return BigInt(s) <= halfOfOrder;
}
