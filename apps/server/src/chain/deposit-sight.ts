import type { Order } from "@geoswap/protocol";
import type { Hex } from "viem";

/** A deposit as one provider told of it. */
export type ToldDeposit = {
	orderId: Hex;
	order: Order;
	blockNumber: number;
	/** On Solana zero: there a slot and a transaction say where it is. */
	blockHash: Hex;
	transactionHash: Hex;
};

/**
 * What another provider says of a deposit: it has the same, and is so far itself; it is behind; or it has something else
 * where the deposit should be.
 */
export type DepositSight =
	| { verdict: "agrees"; headNumber: number; finalizedNumber: number }
	| { verdict: "behind" }
	| { verdict: "differs"; how: string };
