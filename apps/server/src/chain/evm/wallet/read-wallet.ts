import { type Amount, fromWord, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, prepareEncodeFunctionData } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import type { View } from "../read/call-multicall.ts";
import { balanceView, readViews } from "../read/read-views.ts";
import { readDelegation } from "./read-delegation.ts";
import type { WalletDelegation } from "./wallet-delegation.ts";

// viem hashes function names at each call: this one is hashed once.
const stateOf = prepareEncodeFunctionData({ abi: geoEscrowAbi, functionName: "orderState" });

/** An order of the wallet that will take this much of the same token once it is opened. */
export type UnopenedOrder = { orderId: Hex; escrow: Address; amount: Amount };

export type WalletReading = {
	delegation: WalletDelegation;
	/** The wallet's balance of the input token, less the inputs of its other unopened orders. */
	available: Amount;
	/** True if the order was opened, by anyone. */
	isOpened: boolean;
};

/**
 * Reads what opening the order depends on, in one round of requests. The balance and the states of the wallet's other
 * orders are of one block: the amount of a just opened order is not subtracted from a balance that it has left already.
 */
export async function readWallet({
	chain,
	order,
	unopened,
}: {
	chain: EvmChain;
	order: Order;
	unopened: readonly UnopenedOrder[];
}): Promise<WalletReading> {
	const wallet = fromWord(order.wallet);
	const token = fromWord(order.inputToken);
	const escrow = fromWord(order.escrow);
	const orders = [{ orderId: orderId(order), escrow }, ...unopened];
	const [delegation, answers] = await Promise.all([
		readDelegation(chain, wallet),
		readViews(chain, [...orders.map(orderState), balanceView(chain, { wallet, token })]),
	]);
	const [state = 0n, ...otherStates] = answers.slice(0, orders.length);
	const balance = answers.at(-1) ?? 0n;
	const claimed = unopened
		.filter((_, i) => otherStates[i] === 0n)
		.reduce((sum, other) => sum + other.amount, 0n);
	return {
		delegation,
		available: balance > claimed ? balance - claimed : 0n,
		isOpened: state !== 0n,
	};
}

/** Returns the call that reads an order's state: zero if this escrow never saw the order. */
function orderState({ orderId: id, escrow }: { orderId: Hex; escrow: Address }): View {
	return {
		target: escrow,
		callData: encodeFunctionData({ ...stateOf, args: [id] }),
	};
}
