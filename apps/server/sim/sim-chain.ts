/**
 * A chain in memory, EVM or Solana. It has no clock and does nothing by itself, because its owner produces the blocks
 * and decides what happens to them. It always answers immediately and truthfully. The node in front of it makes answers
 * late, missing or wrong.
 */
export type SimChain = {
	chainId: number;
	/**
	 * Answers a JSON-RPC call as a complete node would, or as a stale one if `isBehind`. Throws an `RpcFailure` for an
	 * error that a node returns. An EVM chain returns a promise where code has to run, as in a call or a simulation.
	 */
	request: (method: string, params: readonly unknown[], options?: { isBehind?: boolean }) => unknown;
	/**
	 * Produces a block on an EVM chain, a slot on Solana, at this time. Includes pending transactions that are not held
	 * back.
	 */
	produce: (options: {
		atMs: number;
		holdBack?: (transactionHash: string) => boolean;
		isEmpty?: boolean;
	}) => void | Promise<void>;
	/**
	 * Drops the newest blocks, only unfinal ones unless `pastFinality`, and puts as many others in their place.
	 * Transactions that are kept are pending again or in the new blocks. The others are gone from every node until they
	 * are sent again.
	 */
	reorg: (options: {
		depth: number;
		keep: (transactionHash: string) => boolean;
		pastFinality?: boolean;
	}) => void | Promise<void>;
	/** Forgets pending transactions. */
	drop: (isDropped: (transactionHash: string) => boolean) => void;
	/** Stops or resumes finality. While it is stalled, no further block becomes final. */
	stallFinality: (isStalled: boolean) => void;
	/** Sets the price of block space, as a multiple of the usual. Transactions that offer less have to wait. */
	setGasPrice: (multiple: number) => void;
	heights: () => { latest: number; finalized: number };
	/** Returns the pending transactions. */
	waiting: () => string[];
};

/** An error that a node returns. */
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
