/** Gas that a transaction needs to open orders, besides what each order may use. */
export const openingGas = {
	perBundle: 100_000n,
	/** The data of one order, the call with which the escrow opens it, and the event if that fails. */
	perOrder: 40_000n,
	/** A call passes on at most 63/64 of the remaining gas, so a limit is raised by this factor to arrive in full. */
	limitFactor: { times: 64n, over: 63n },
};
