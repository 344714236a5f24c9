/** What the EntryPoint wants to find in a transaction beside the limits of its ops. */
export const entryPointGas = {
	perBundle: 100_000n,
	perOp: 60_000n,
	/** A call passes on at most 63 of 64 parts of the gas that is left. To arrive in full, a limit is raised by the rest. */
	limitFactor: { times: 64n, over: 63n },
};
