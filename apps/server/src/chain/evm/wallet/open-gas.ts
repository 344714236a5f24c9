import type { UserOpGas } from "@geoswap/protocol";

/** Checking one signature and taking a new nonce key; the same for every wallet. */
const verificationGasLimit = 80_000n;
/** Slots that may be empty by the time the op runs, though they were not when it was simulated. */
const spare = 30_000n;
const step = 10_000n;

/**
 * The limits of an op whose calls used this much when simulated. Refunds hide up to a fifth of what a call needs at
 * its height. What is not used costs nothing.
 */
export function openGas(gasUsed: bigint): UserOpGas {
	const atLeast = (gasUsed * 3n) / 2n + spare;
	return { verificationGasLimit, callGasLimit: ((atLeast + step - 1n) / step) * step };
}
