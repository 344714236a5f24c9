import { geoEscrowAbi, type Order } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex } from "viem";
import type { Credit } from "./find-credits.ts";

/** A call that any wallet may send and pay for. The money goes to the order's wallet, regardless of the sender. */
export type RescueCall = { to: Address; data: Hex };

/** Returns the call that sends an order's input back to its wallet. */
export function refundCall({ order, escrow }: { order: Order; escrow: Address }): RescueCall {
	return {
		to: escrow,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }),
	};
}

/** Returns the call that pays a credit to the wallet that it is owed to. */
export function claimCall({ escrow, token }: Credit, wallet: Address): RescueCall {
	return {
		to: escrow,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "claim", args: [token, wallet] }),
	};
}
