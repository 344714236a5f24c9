/** Gas that the EntryPoint requires in a transaction besides the limits of its ops. */
export const entryPointGas = {
	perBundle: 100_000n,
	perOp: 60_000n,
	/** A call passes on at most 63/64 of the remaining gas, so a limit is raised by this factor to arrive in full. */
	limitFactor: { times: 64n, over: 63n },
};
