import { type Amount, fromWord, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	prepareEncodeFunctionData,
	zeroAddress,
} from "viem";
import type { EvmChain } from "../chain-client.ts";
import type { View } from "../read/call-multicall.ts";
import { balanceView, readViews } from "../read/read-views.ts";
import { readDelegation } from "./read-delegation.ts";
import type { WalletDelegation } from "./wallet-delegation.ts";

// viem hashes function names at each call: these are hashed once.
const allowanceOf = prepareEncodeFunctionData({ abi: erc20Abi, functionName: "allowance" });
const stateOf = prepareEncodeFunctionData({ abi: geoEscrowAbi, functionName: "orderState" });

/** An order of the wallet that will take this much of the same token once it is opened. */
export type UnopenedOrder = { orderId: Hex; escrow: Address; amount: Amount };

export type WalletReading = {
	delegation: WalletDelegation;
	/** The wallet's balance of the input token, less the inputs of its other unopened orders. */
	available: Amount;
	/** The amount of the input token that the escrow may already take. */
	allowance: bigint;
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
	const amounts = [balanceView(chain, { wallet, token })];
	if (token !== zeroAddress) amounts.push(allowanceView({ token, wallet, escrow }));
	const [delegation, answers] = await Promise.all([
		readDelegation(chain, wallet),
		readViews(chain, [...orders.map(orderState), ...amounts]),
	]);
	const [state = 0n, ...otherStates] = answers.slice(0, orders.length);
	const [balance = 0n, allowance = 0n] = answers.slice(orders.length);
	const claimed = unopened
		.filter((_, i) => otherStates[i] === 0n)
		.reduce((sum, other) => sum + other.amount, 0n);
	return {
		delegation,
		available: balance > claimed ? balance - claimed : 0n,
		allowance,
		isOpened: state !== 0n,
	};
}

function allowanceView({ token, wallet, escrow }: Record<"token" | "wallet" | "escrow", Address>): View {
	return {
		target: token,
		callData: encodeFunctionData({ ...allowanceOf, args: [wallet, escrow] }),
	};
}

/** Returns the call that reads an order's state: zero if this escrow never saw the order. */
function orderState({ orderId: id, escrow }: { orderId: Hex; escrow: Address }): View {
	return {
		target: escrow,
		callData: encodeFunctionData({ ...stateOf, args: [id] }),
	};
}
