import type { Order } from "@geoswap/protocol";
import type { Hex } from "viem";

/** A deposit as one provider reported it. */
export type ToldDeposit = {
	orderId: Hex;
	order: Order;
	blockNumber: number;
	/** Zero on Solana, where the slot and the transaction identify the place. */
	blockHash: Hex;
	transactionHash: Hex;
};

/**
 * Another provider's answer about a deposit. `agrees`: it has the same deposit, and its own blocks reach these numbers.
 * `behind`: it lacks the deposit's block so far. `differs`: it has something else where the deposit should be.
 */
export type DepositSight =
	| { verdict: "agrees"; headNumber: number; finalizedNumber: number }
	| { verdict: "behind" }
	| { verdict: "differs"; how: string };
