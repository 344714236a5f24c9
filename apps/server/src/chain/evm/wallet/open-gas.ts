/** Gas that a wallet's account uses beside the payment, to hash the order and check one signature. */
const accountGas = 15_000n;
/** Gas for storage slots that may be empty when the order is opened, though they were not when it was simulated. */
const spare = 30_000n;
const step = 10_000n;

/**
 * Returns the gas limit for opening an order whose simulation without a signature used this much. Gas refunds hide up
 * to a fifth of what a call needs at its peak. Unused gas costs nothing.
 */
export function openGas(gasUsed: bigint): bigint {
	const needed = ((gasUsed + accountGas) * 3n) / 2n + spare;
	return ((needed + step - 1n) / step) * step;
}
