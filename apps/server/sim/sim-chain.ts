/**
 * A chain in memory, of either kind. It has no clock and no will of its own: whoever holds it makes its blocks and
 * decides what befalls them. It always answers at once and truly; that nodes are late, gone or wrong is up to what
 * stands in front of it.
 */
export type SimChain = {
	chainId: number;
	/**
	 * Answers a JSON-RPC call as a node that has everything would, or one that is behind. Throws a `RpcFailure` for an error
	 * that is an answer.
	 */
	request: (method: string, params: readonly unknown[], options?: { isBehind?: boolean }) => unknown;
	/** A block on an EVM chain, a slot on Solana, of this time. What waits and is not held back goes in. */
	produce: (options: {
		atMs: number;
		holdBack?: (transactionHash: string) => boolean;
		isEmpty?: boolean;
	}) => void;
	/**
	 * Drops the newest blocks, at most as many as are not final unless told so, and puts as many others in their place.
	 * Of the transactions in them those that are kept wait for a block again, or are in the new ones; the others are gone
	 * from every node until someone sends them again.
	 */
	reorg: (options: {
		depth: number;
		keep: (transactionHash: string) => boolean;
		pastFinality?: boolean;
	}) => void;
	/** Forgets transactions that wait for a block. */
	drop: (isDropped: (transactionHash: string) => boolean) => void;
	/** While it stands still nothing more becomes final. */
	stallFinality: (isStalled: boolean) => void;
	/** What a block costs now, as a multiple of the usual, by which transactions that offer less have to wait. */
	setGasPrice: (multiple: number) => void;
	heights: () => { latest: number; finalized: number };
	/** Transactions that wait for a block. */
	waiting: () => string[];
};

/** An error that a node answers with. */
export class RpcFailure extends Error {
	override name = "RpcFailure";
	readonly code: number;
	readonly data: unknown;

	constructor(code: number, message: string, data?: unknown) {
		super(message);
		this.code = code;
		this.data = data;
	}
}
