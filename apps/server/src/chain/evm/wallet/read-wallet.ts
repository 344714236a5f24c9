import { type Amount, fromWord, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionResult,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	hexToBigInt,
	multicall3Abi,
	prepareEncodeFunctionData,
	slice,
	zeroAddress,
} from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { callMulticall, encodeViews, multicallAddress, type View } from "../read/call-multicall.ts";
import { readDelegation } from "./read-delegation.ts";
import type { WalletDelegation } from "./wallet-delegation.ts";

// Prepared once, because viem otherwise hashes the function's name at each call.
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
 * Reads what opening the order depends on, with concurrent requests. The balance and the states of the wallet's other
 * orders are of one block, so that the amount of a just opened order is not subtracted from a balance that it has left
 * already.
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

/** Returns the call that reads an order's state, which is zero if the order was never opened in this escrow. */
function orderState({ orderId: id, escrow }: { orderId: Hex; escrow: Address }): View {
	return {
		target: escrow,
		callData: encodeFunctionData({ ...stateOf, args: [id] }),
	};
}

// Prepared once, because viem otherwise hashes the functions' names at each call.
const getEthBalance = prepareEncodeFunctionData({ abi: multicall3Abi, functionName: "getEthBalance" });
const balanceOf = prepareEncodeFunctionData({ abi: erc20Abi, functionName: "balanceOf" });

/** Reads all views in one call, at one block. Each must answer with a number. */
async function readViews(chain: EvmChain, views: readonly View[]): Promise<bigint[]> {
	const data = await requestChain(
		chain.chainId,
		callMulticall(chain, encodeViews(views, { allowFailure: false })),
	);
	const answers = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data });
	return answers.map(({ returnData }) => hexToBigInt(slice(returnData, 0, 32)));
}

/** Returns the call that reads a wallet's balance of a token; the zero address stands for the native token. */
function balanceView(chain: EvmChain, { wallet, token }: { wallet: Address; token: Address }): View {
	if (token === zeroAddress) {
		return {
			target: multicallAddress(chain),
			callData: encodeFunctionData({ ...getEthBalance, args: [wallet] }),
		};
	}
	return {
		target: token,
		callData: encodeFunctionData({ ...balanceOf, args: [wallet] }),
	};
}
