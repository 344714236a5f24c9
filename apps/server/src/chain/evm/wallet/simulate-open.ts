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
	type StateOverride,
	toEventSelector,
} from "viem";
import { entryPoint09Abi, entryPoint09Address, type PackedUserOperation } from "viem/account-abstraction";
import { askChain } from "../../ask-chain.ts";
import type { EvmChain } from "../chain-client.ts";
import { signedAuthorization } from "./signed-authorization.ts";
import { delegationPrefix } from "./wallet-delegation.ts";

/** Whether the escrow would say that the order was opened: nothing else counts as success. */
export type OpenSimulation = { opens: true; gasUsed: bigint } | { opens: false; reason: string };

/** An account that nobody has: the EntryPoint wants a sender without code. */
const anySender: Address = "0x000000000000000000000000000000000000dEaD";

// Hashed once: what viem is given by name it hashes each time.
const handleOps = prepareEncodeFunctionData({ abi: entryPoint09Abi, functionName: "handleOps" });
const openedTopic = toEventSelector(getAbiItem({ abi: geoEscrowAbi, name: "Opened" }));

/** Before there is a signature: the wallet's calls, as the EntryPoint makes them, with the delegate in place. */
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
	return simulate({
		chain,
		order,
		call: { account: entryPoint09Address, to: wallet, data: callData },
		stateOverrides: [{ address: wallet, code: concat([delegationPrefix, delegate]) }],
	});
}

/** With the signature: the very bundle that a relayer would send, authorization included. */
export function simulateOp({
	chain,
	order,
	userOp,
	authorization,
}: {
	chain: EvmChain;
	order: Order;
	/** Signed. */
	userOp: PackedUserOperation;
	authorization?: Authorization | undefined;
}): Promise<OpenSimulation> {
	const data = encodeFunctionData({ ...handleOps, args: [[userOp], anySender] });
	return simulate({
		chain,
		order,
		call: {
			account: anySender,
			to: entryPoint09Address,
			data,
			...(authorization && { authorizationList: [signedAuthorization(authorization)] }),
		},
	});
}

async function simulate({
	chain: { chainId, client },
	order,
	call,
	stateOverrides = [],
}: {
	chain: EvmChain;
	order: Order;
	call: { account: Address; to: Address; data: Hex };
	stateOverrides?: StateOverride;
}): Promise<OpenSimulation> {
	const [block] = await askChain(
		chainId,
		client.simulateBlocks({ blocks: [{ calls: [call], stateOverrides }] }),
	);
	const result = block?.calls[0];
	if (!result) return { opens: false, reason: "the chain simulated nothing" };
	if (result.status !== "success") return { opens: false, reason: revertReason(result.data) };
	const logs = result.logs ?? [];
	return isOpenedIn(logs, order)
		? { opens: true, gasUsed: result.gasUsed }
		: { opens: false, reason: innerReason(logs) };
}

function isOpenedIn(logs: Log[], order: Order): boolean {
	const id = orderId(order);
	const escrow = fromWord(order.escrow);
	return logs.some(
		({ address, topics }) => topics[0] === openedTopic && topics[1] === id && isAddressEqual(address, escrow),
	);
}

/** An op whose calls revert leaves a bundle that succeeds, with the reason in an event. */
function innerReason(logs: Log[]): string {
	const [event] = parseEventLogs({ abi: entryPoint09Abi, eventName: "UserOperationRevertReason", logs });
	return event ? revertReason(event.args.revertReason) : "the order was not opened";
}

const reasonAbi = [
	...geoEscrowAbi,
	...entryPoint09Abi,
	...parseAbi([
		"error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
		"error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
	]),
];

/** The error's name, or what the EntryPoint or a token says in words. */
function revertReason(data: Hex): string {
	try {
		const { errorName, args } = decodeErrorResult({ abi: reasonAbi, data });
		const words = args?.find((arg) => typeof arg === "string" && !arg.startsWith("0x"));
		return typeof words === "string" ? words : errorName;
	} catch {
		return data === "0x" ? "reverted without a reason" : `reverted with ${data.slice(0, 10)}`;
	}
}
