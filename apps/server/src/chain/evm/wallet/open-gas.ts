import type { UserOpGas } from "@geoswap/protocol";

/** Gas for checking one signature and using a new nonce key; the same for every wallet. */
const verificationGasLimit = 80_000n;
/** Gas for storage slots that may be empty by the time the op runs, though they were not when it was simulated. */
const spare = 30_000n;
const step = 10_000n;

/**
 * Returns the gas limits of an op whose calls used this much when simulated. Gas refunds hide up to a fifth of what a
 * call needs at its peak. Unused gas costs nothing.
 */
export function openGas(gasUsed: bigint): UserOpGas {
	const atLeast = (gasUsed * 3n) / 2n + spare;
	return { verificationGasLimit, callGasLimit: ((atLeast + step - 1n) / step) * step };
}
