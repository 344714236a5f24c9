/** A statement of a receipt that a chain confirms. */
export type ShownFact = {
	/** The facts that the chain shows, as text for users. */
	fact: string;
	chainId: number;
	/** The transaction that shows them. Absent if the chain's state does. */
	txHash?: string;
	/** False if the chain could still drop them. */
	isFinal: boolean;
};
