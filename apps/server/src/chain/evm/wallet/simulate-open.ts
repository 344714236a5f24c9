import { type Authorization, fromWord, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import {
	type Address,
	concat,
	decodeErrorResult,
	encodeFunctionData,
	getAbiItem,
	type Hex,
	isAddressEqual,
	type Log,
	parseAbi,
	parseEventLogs,
	prepareEncodeFunctionData,
	slice,
	toEventSelector,
} from "viem";
import { entryPoint09Abi, entryPoint09Address, type PackedUserOperation } from "viem/account-abstraction";
import { askChain } from "../../ask-chain.ts";
import type { EvmChain } from "../chain-client.ts";
import { maxTransactionGas } from "../send/simulate-bundle.ts";
import { simulate } from "../simulate/simulate.ts";
import type { AccountCall, SimulatedCall } from "../simulate/simulation.ts";
import { signedAuthorization } from "./signed-authorization.ts";
import { delegationPrefix } from "./wallet-delegation.ts";

/** `opens` is true if the escrow would emit that the order was opened: nothing else counts as success. */
export type OpenSimulation = { opens: true; gasUsed: bigint } | { opens: false; reason: string };

/** An account that nobody owns: the EntryPoint requires a sender without code. */
const anySender: Address = "0x000000000000000000000000000000000000dEaD";

// viem hashes function names at each call: these are hashed once.
const handleOps = prepareEncodeFunctionData({ abi: entryPoint09Abi, functionName: "handleOps" });
const openedTopic = toEventSelector(getAbiItem({ abi: geoEscrowAbi, name: "Opened" }));

/** The state of an order that is open, as the escrow numbers the states. */
const openedState = 1;

/** Simulates the wallet's calls before there is a signature: as the EntryPoint makes them, with the delegate set. */
export function simulateCalls({
	chain,
	order,
	delegate,
	callData,
}: {
	chain: EvmChain;
	order: Order;
	delegate: Address;
	callData: Hex;
}): Promise<OpenSimulation> {
	const wallet = fromWord(order.wallet);
	return simulateOpen(chain, order, {
		from: entryPoint09Address,
		to: wallet,
		data: callData,
		codes: [{ address: wallet, code: concat([delegationPrefix, delegate]) }],
	});
}

/** Simulates the signed op: the very bundle that a relayer would send, authorization included. */
export function simulateOp({
	chain,
	order,
	userOp,
	authorization,
}: {
	chain: EvmChain;
	order: Order;
	/** The op, signed by the wallet. */
	userOp: PackedUserOperation;
	authorization?: Authorization | undefined;
}): Promise<OpenSimulation> {
	return simulateOpen(chain, order, {
		from: anySender,
		to: entryPoint09Address,
		data: encodeFunctionData({ ...handleOps, args: [[userOp], anySender] }),
		authorizationList: authorization && [signedAuthorization(authorization)],
		part: { to: userOp.sender, data: userOp.callData, gas: callGasLimit(userOp) },
	});
}

async function simulateOpen(
	chain: EvmChain,
	order: Order,
	{ part, ...call }: Omit<SimulatedCall, "orders" | "gas"> & { part?: AccountCall },
): Promise<OpenSimulation> {
	const watched = { contract: fromWord(order.escrow), orderId: orderId(order) };
	const simulation = await askChain(
		chain.chainId,
		simulate(chain, {
			...call,
			gas: maxTransactionGas,
			orders: [part ? { ...watched, part } : watched],
		}),
	);
	if (!simulation.succeeds) return { opens: false, reason: revertReason(simulation.data) };
	const { gasUsed } = simulation;
	if ("logs" in simulation) {
		const { logs } = simulation;
		return isOpenedIn(logs, order) ? { opens: true, gasUsed } : { opens: false, reason: innerReason(logs) };
	}
	const [change] = simulation.changes;
	if (change && change.before !== change.after && change.after === openedState)
		return { opens: true, gasUsed };
	// The EntryPoint tells a reason only if there is one.
	const { revertData = "0x" } = change ?? {};
	return { opens: false, reason: revertData === "0x" ? notOpened : revertReason(revertData) };
}

/** ERC-4337 packs the gas limit of the calls into the lower half of a word. */
function callGasLimit({ accountGasLimits }: PackedUserOperation): bigint {
	return BigInt(slice(accountGasLimits, 16));
}

const notOpened = "the order was not opened";

function isOpenedIn(logs: Log[], order: Order): boolean {
	const id = orderId(order);
	const escrow = fromWord(order.escrow);
	return logs.some(
		({ address, topics }) => topics[0] === openedTopic && topics[1] === id && isAddressEqual(address, escrow),
	);
}

/** Returns the reason from an event: a bundle succeeds even if the calls of its op revert. */
function innerReason(logs: Log[]): string {
	const [event] = parseEventLogs({ abi: entryPoint09Abi, eventName: "UserOperationRevertReason", logs });
	return event ? revertReason(event.args.revertReason) : notOpened;
}

const reasonAbi = [
	...geoEscrowAbi,
	...entryPoint09Abi,
	...parseAbi([
		"error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
		"error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
	]),
];

/** Returns the error's name, or the text that the EntryPoint or a token gives. */
function revertReason(data: Hex): string {
	try {
		const { errorName, args } = decodeErrorResult({ abi: reasonAbi, data });
		const words = args?.find((arg) => typeof arg === "string" && !arg.startsWith("0x"));
		return typeof words === "string" ? words : errorName;
	} catch {
		return data === "0x" ? "reverted without a reason" : `reverted with ${data.slice(0, 10)}`;
	}
}
