/** Until a chain's head, or its finalized block, has this number. */
export type WaitFor = {
	head?: { chainId: number; number: number };
	finalized?: { chainId: number; number: number };
};
