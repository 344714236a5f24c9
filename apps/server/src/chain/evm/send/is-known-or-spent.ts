/** Returns whether a node refuses a transaction because it has it already. */
export function isKnown(problem: string): boolean {
	return /already (known|imported|exists)|known transaction/i.test(problem);
}

/** Returns whether a node refuses a transaction because its nonce is used already. */
export function isSpent(problem: string): boolean {
	return /nonce (is )?too low|nonce provided for the transaction is lower/i.test(problem);
}

/** Returns whether a refusal shows that the chain has the transaction, or another with its nonce. */
export function isKnownOrSpent(problem: string): boolean {
	return isKnown(problem) || isSpent(problem);
}
