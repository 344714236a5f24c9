import {
	type Address,
	concat,
	encodeAbiParameters,
	encodeFunctionData,
	type Hex,
	hashDomain,
	keccak256,
	numberToHex,
	pad,
	prepareEncodeFunctionData,
	toHex,
} from "viem";
import type { PackedUserOperation } from "viem/account-abstraction";
import { toChainId } from "../chain-id.ts";
import type { Order } from "../order.ts";
import { fromWord } from "../word.ts";
import { entryPointAddress } from "./entry-point-address.ts";
import { type Call, orderCalls } from "./order-calls.ts";

/** ERC-7821: a batch of calls that reverts as a whole, without extra data. */
const batchMode = "0x0100000000000000000000000000000000000000000000000000000000000000";

export type UserOpGas = { verificationGasLimit: bigint; callGasLimit: bigint };

/** The hash that the wallet signs, and the op that the relayer sends with that signature. */
export type OrderUserOp = {
	/** The EntryPoint's hash of the op, to be signed by `personal_sign` over its 32 bytes. Computed on access. */
	readonly hash: Hex;
	/** The op for `handleOps`, still without its signature. */
	userOp: PackedUserOperation;
};

/** The wallet's calls, and the data with which the EntryPoint has the wallet make them. */
export type OrderExecution = { calls: Call[]; callData: Hex };

export function orderExecution({ order, allowance }: { order: Order; allowance: bigint }): OrderExecution {
	const calls = orderCalls({ order, allowance });
	return { calls, callData: encodeExecute(calls) };
}

/**
 * Returns the user operation that opens an order. Everything in it follows from the order, the delegate, the
 * current allowance and the gas limits, so that a caller can rebuild it and compare before signing.
 */
export function orderUserOp({
	order,
	delegate,
	allowance,
	gas,
	execution: { callData } = orderExecution({ order, allowance }),
}: {
	order: Order;
	delegate: Address;
	allowance: bigint;
	gas: UserOpGas;
	/** The execution of this order and allowance, if the caller has made it already. */
	execution?: OrderExecution;
}): OrderUserOp {
	const chainId = toChainId(order.originChainId);
	const userOp: PackedUserOperation = {
		sender: fromWord(order.wallet),
		nonce: userOpNonce(order),
		initCode: delegationMarker,
		callData,
		accountGasLimits: concat([
			numberToHex(gas.verificationGasLimit, { size: 16 }),
			numberToHex(gas.callGasLimit, { size: 16 }),
		]),
		// The relayer pays for gas, and the swap's price repays it.
		preVerificationGas: 0n,
		gasFees: zeroWord,
		paymasterAndData: "0x",
		signature: "0x",
	};
	return {
		userOp,
		get hash() {
			return userOpHash(userOp, { chainId, delegate });
		},
	};
}

/** Marker that makes the delegate's address part of the hash: a new delegation invalidates the wallet's old ops. */
const delegationMarker = "0x7702";
const zeroWord = numberToHex(0, { size: 32 });
const nothingHash = keccak256("0x");
const opTypeHash = keccak256(
	toHex(
		"PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)",
	),
);

/** Returns the op's EIP-712 hash, as EntryPoint v0.9 computes it. viem's hashes the types and the domain each time. */
function userOpHash(
	{ sender, nonce, callData, accountGasLimits }: PackedUserOperation,
	{ chainId, delegate }: { chainId: number; delegate: Address },
): Hex {
	const structHash = keccak256(
		concat([
			opTypeHash,
			pad(sender),
			numberToHex(nonce, { size: 32 }),
			keccak256(delegate),
			keccak256(callData),
			accountGasLimits,
			zeroWord,
			zeroWord,
			nothingHash,
		]),
	);
	return keccak256(concat(["0x1901", domainHash(chainId), structHash]));
}

const domainHashes = new Map<number, Hex>();

function domainHash(chainId: number): Hex {
	const known = domainHashes.get(chainId);
	if (known) return known;
	const hash = hashDomain({
		domain: {
			name: "ERC4337",
			version: "1",
			chainId: BigInt(chainId),
			verifyingContract: entryPointAddress,
		},
		types: {
			EIP712Domain: [
				{ name: "name", type: "string" },
				{ name: "version", type: "string" },
				{ name: "chainId", type: "uint256" },
				{ name: "verifyingContract", type: "address" },
			],
		},
	});
	domainHashes.set(chainId, hash);
	return hash;
}

/** Returns the swap's own nonce key at sequence 0: ops of two swaps never wait for each other, and each runs once. */
export function userOpNonce(order: Pick<Order, "swapKey">): bigint {
	if (BigInt(order.swapKey) >> 128n !== 0n) throw new RangeError(`swapKey ${order.swapKey} is not a UUID`);
	return BigInt(order.swapKey) << 64n;
}

/** The only function of GeoAccount that is needed here. The whole ABI would be in every bundle of the SDK. */
const executeAbi = [
	{
		type: "function",
		name: "execute",
		stateMutability: "payable",
		inputs: [
			{ name: "mode", type: "bytes32" },
			{ name: "executionData", type: "bytes" },
		],
		outputs: [],
	},
] as const;
const executeCall = /*#__PURE__*/ prepareEncodeFunctionData({ abi: executeAbi, functionName: "execute" });

function encodeExecute(calls: Call[]): Hex {
	const executionData = encodeAbiParameters(
		[
			{
				type: "tuple[]",
				components: [
					{ name: "to", type: "address" },
					{ name: "value", type: "uint256" },
					{ name: "data", type: "bytes" },
				],
			},
		],
		[calls],
	);
	return encodeFunctionData({ ...executeCall, args: [batchMode, executionData] });
}
