import { fromWord, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	getChainContractAddress,
	type Hex,
	hexToBigInt,
	multicall3Abi,
	slice,
	zeroAddress,
} from "viem";
import { askChain } from "../ask-chain.ts";
import type { EvmChain } from "./chain-client.ts";
import { readDelegation } from "./read-delegation.ts";
import type { WalletDelegation } from "./wallet-delegation.ts";

/** An order of the wallet that will take this much of the same token once it is opened. */
export type UnopenedOrder = { orderId: Hex; escrow: Address; amount: bigint };

export type WalletReading = {
	delegation: WalletDelegation;
	/** Of the input token, less what the wallet's other orders have yet to take. */
	available: bigint;
	/** What the escrow may already take of the input token. */
	allowance: bigint;
	/** Whether the order was opened, by whomever. */
	isOpened: boolean;
};

type View = { target: Address; callData: Hex };

/**
 * What opening the order depends on, in one round of requests. The balance and the states of the wallet's other orders
 * are of one block: an order that was just opened is not subtracted from a balance that it has left already.
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
	const amounts = token === zeroAddress ? [nativeBalance(chain, wallet)] : tokenViews(token, wallet, escrow);
	const [delegation, answers] = await Promise.all([
		readDelegation(chain, wallet),
		readNumbers(chain, [...orders.map(orderState), ...amounts]),
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

function nativeBalance({ client }: EvmChain, wallet: Address): View {
	return {
		target: getChainContractAddress({ chain: client.chain, contract: "multicall3" }),
		callData: encodeFunctionData({ abi: multicall3Abi, functionName: "getEthBalance", args: [wallet] }),
	};
}

function tokenViews(token: Address, wallet: Address, escrow: Address): View[] {
	return [
		encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [wallet] }),
		encodeFunctionData({ abi: erc20Abi, functionName: "allowance", args: [wallet, escrow] }),
	].map((callData) => ({ target: token, callData }));
}

/** Zero for an order that this escrow never saw. */
function orderState({ orderId: id, escrow }: { orderId: Hex; escrow: Address }): View {
	return {
		target: escrow,
		callData: encodeFunctionData({ abi: geoEscrowAbi, functionName: "orderState", args: [id] }),
	};
}

/** One call for all of them. */
async function readNumbers({ chainId, client }: EvmChain, views: View[]): Promise<bigint[]> {
	const answers = await askChain(
		chainId,
		client.readContract({
			address: getChainContractAddress({ chain: client.chain, contract: "multicall3" }),
			abi: multicall3Abi,
			functionName: "aggregate3",
			args: [views.map((view) => ({ ...view, allowFailure: false }))],
		}),
	);
	return answers.map(({ returnData }) => hexToBigInt(slice(returnData, 0, 32)));
}
