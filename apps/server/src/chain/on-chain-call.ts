/** Called after each call to a chain's node has ended. */
export type OnChainCall = (call: {
	chainId: number;
	method: string;
	seconds: number;
	/** `refused`: the node answered with an error, as for a transaction that would revert; `failed`: no answer. */
	outcome: "ok" | "refused" | "failed";
}) => void;
