import type { Address, Hex, Log, SignedAuthorization } from "viem";

/** A call of one account to another, with at most this much gas. */
export type AccountCall = { to: Address; data: Hex; gas: bigint };

/** An order that a transaction is to change. */
export type WatchedOrder = {
	/** The escrow or vault that has the order's state. */
	contract: Address;
	orderId: Hex;
	/** The call that the transaction's target makes for this order. The target catches its failure. */
	part?: AccountCall;
};

/** A transaction to simulate. */
export type SimulatedCall = AccountCall & {
	from: Address;
	authorizationList?: readonly SignedAuthorization[] | undefined;
	/** Code that accounts have during the call, instead of their code on the chain. */
	codes?: readonly AccountCode[] | undefined;
	/** Words that accounts have in their storage during the call. */
	slots?: readonly AccountSlot[] | undefined;
	orders: readonly WatchedOrder[];
};

export type AccountCode = { address: Address; code: Hex };
export type AccountSlot = { address: Address; slot: Hex; value: Hex };

/** An order's state before and after a simulated transaction, as its contract numbers the states. */
export type StateChange = {
	before: number;
	after: number;
	/** The revert data of the order's part, if the state did not change and the part failed. */
	revertData?: Hex;
};

/**
 * A simulated transaction's outcome. Depending on the method, its logs or the states of its orders show its effects.
 */
export type Simulation =
	| { succeeds: false; data: Hex }
	| { succeeds: true; gasUsed: bigint; logs: Log[] }
	/** One change for each of the orders. */
	| { succeeds: true; gasUsed: bigint; changes: StateChange[] };

export type Simulate = (call: SimulatedCall) => Promise<Simulation>;
