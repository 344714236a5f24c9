import {
	type Authorization,
	fromWord,
	geoEscrowAbi,
	type Order,
	orderId,
	orderUserOp,
	type UserOpGas,
} from "@geoswap/protocol";
import {
	type Address,
	concat,
	decodeErrorResult,
	encodeFunctionData,
	type Hex,
	isAddressEqual,
	type Log,
	parseAbi,
	parseEventLogs,
	type StateOverride,
} from "viem";
import { entryPoint09Abi, entryPoint09Address } from "viem/account-abstraction";
import { askChain } from "../ask-chain.ts";
import type { EvmChain } from "./chain-client.ts";
import { delegationPrefix } from "./wallet-delegation.ts";

/** Whether the escrow would say that the order was opened: nothing else counts as success. */
export type OpenSimulation = { opens: true; gasUsed: bigint } | { opens: false; reason: string };

/** An account that nobody has: the EntryPoint wants a sender without code. */
const anySender: Address = "0x000000000000000000000000000000000000dEaD";

/** Before there is a signature: the wallet's calls, as the EntryPoint makes them, with the delegate in place. */
export function simulateCalls({
	chain,
	order,
	delegate,
	allowance,
}: {
	chain: EvmChain;
	order: Order;
	delegate: Address;
	allowance: bigint;
}): Promise<OpenSimulation> {
	const wallet = fromWord(order.wallet);
	// The limits are no part of the calls.
	const gas = { verificationGasLimit: 0n, callGasLimit: 0n };
	const { userOp } = orderUserOp({ order, delegate, allowance, gas });
	return simulate({
		chain,
		order,
		call: { account: entryPoint09Address, to: wallet, data: userOp.callData },
		stateOverrides: [{ address: wallet, code: concat([delegationPrefix, delegate]) }],
	});
}

/** With the signature: the very bundle that a relayer would send, authorization included. */
export function simulateOp({
	chain,
	order,
	op: { signature, authorization, ...op },
}: {
	chain: EvmChain;
	order: Order;
	op: {
		delegate: Address;
		allowance: bigint;
		gas: UserOpGas;
		signature: Hex;
		authorization?: Authorization | undefined;
	};
}): Promise<OpenSimulation> {
	const { userOp } = orderUserOp({ order, ...op });
	const data = encodeFunctionData({
		abi: entryPoint09Abi,
		functionName: "handleOps",
		args: [[{ ...userOp, signature }], anySender],
	});
	const authorizationList = authorization && [
		{
			...authorization,
			chainId: Number(authorization.chainId),
			nonce: Number(authorization.nonce),
			yParity: Number(authorization.yParity),
		},
	];
	return simulate({
		chain,
		order,
		call: {
			account: anySender,
			to: entryPoint09Address,
			data,
			...(authorizationList ? { authorizationList } : {}),
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
	return parseEventLogs({ abi: geoEscrowAbi, eventName: "Opened", logs }).some(
		(event) => isAddressEqual(event.address, escrow) && event.args.orderId === id,
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
