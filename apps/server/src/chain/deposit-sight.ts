import type { Order } from "@geoswap/protocol";
import type { Hex } from "viem";

/** A deposit as one provider reported it. */
export type ToldDeposit = {
	orderId: Hex;
	order: Order;
	blockNumber: number;
	/** Zero on Solana, where the slot and the transaction say where it is. */
	blockHash: Hex;
	transactionHash: Hex;
};

/**
 * Another provider's answer about a deposit: it has the same one, and its own head is at these blocks; it is behind; or
 * it has something else where the deposit should be.
 */
export type DepositSight =
	| { verdict: "agrees"; headNumber: number; finalizedNumber: number }
	| { verdict: "behind" }
	| { verdict: "differs"; how: string };
