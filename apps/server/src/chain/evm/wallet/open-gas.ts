/** Gas for what a wallet's account does beside the payment: it hashes the order and checks one signature. */
const accountGas = 15_000n;
/** Gas for storage slots that may be empty when the order is opened, though they were not when it was simulated. */
const spare = 30_000n;
const step = 10_000n;

/**
 * Returns the maximum of gas for opening an order that used this much when it was simulated without a signature. Gas
 * refunds hide up to a fifth of what a call needs at its peak. Unused gas costs nothing.
 */
export function openGas(gasUsed: bigint): bigint {
	const needed = ((gasUsed + accountGas) * 3n) / 2n + spare;
	return ((needed + step - 1n) / step) * step;
}
