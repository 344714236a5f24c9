/** A statement of a receipt that a chain confirms. */
export type ShownFact = {
	/** The facts that the chain shows, for people. */
	fact: string;
	chainId: number;
	/** The transaction that shows it. Absent if the chain's state does. */
	txHash?: string;
	/** False if the chain could still drop it. */
	isFinal: boolean;
};
