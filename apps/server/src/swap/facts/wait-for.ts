/** Block numbers to wait for: of a chain's head, or of its finalized block. */
export type WaitFor = {
	head?: { chainId: number; number: number };
	finalized?: { chainId: number; number: number };
};
