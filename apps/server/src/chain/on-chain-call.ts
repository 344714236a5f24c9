/** Told of a call to a chain's node once it has ended. */
export type OnChainCall = (call: {
	chainId: number;
	method: string;
	seconds: number;
	/** `refused`: the node answered with an error, as to a transaction that would revert; `failed`: with nothing. */
	outcome: "ok" | "refused" | "failed";
}) => void;
