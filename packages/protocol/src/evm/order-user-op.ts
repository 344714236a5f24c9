import { type Address, encodeAbiParameters, encodeFunctionData, type Hex } from "viem";
import {
	entryPoint09Address,
	getUserOperationHash,
	type PackedUserOperation,
	toPackedUserOperation,
	type UserOperation,
} from "viem/account-abstraction";
import { geoAccountAbi } from "../abi/geo-account-abi.ts";
import { toChainId } from "../chain-id.ts";
import type { Order } from "../order.ts";
import { fromWord } from "../word.ts";
import { type Call, orderCalls } from "./order-calls.ts";

/** ERC-7821: a batch of calls that reverts as a whole, without extra data. */
const batchMode = "0x0100000000000000000000000000000000000000000000000000000000000000";

export type UserOpGas = { verificationGasLimit: bigint; callGasLimit: bigint };

/** What the wallet signs, and what the relayer sends with that signature. */
export type OrderUserOp = {
	/** The EntryPoint's hash of the op, to be signed by `personal_sign` over its 32 bytes. */
	hash: Hex;
	/** The op for `handleOps`, still without its signature. */
	userOp: PackedUserOperation;
};

/**
 * The user operation that opens an order. Everything in it follows from the order, the delegate, the standing
 * allowance and the gas limits, so that a caller can make it again and compare before signing.
 */
export function orderUserOp({
	order,
	delegate,
	allowance,
	gas,
}: {
	order: Order;
	delegate: Address;
	allowance: bigint;
	gas: UserOpGas;
}): OrderUserOp {
	const userOperation: UserOperation<"0.9"> = {
		sender: fromWord(order.wallet),
		nonce: userOpNonce(order),
		// With this marker the delegate's address is part of the hash: a wallet that is delegated anew
		// leaves its old ops behind.
		factory: "0x7702",
		authorization: authorizationForHash(delegate),
		callData: encodeExecute(orderCalls({ order, allowance })),
		...gas,
		// The relayer pays, and is repaid by the price.
		preVerificationGas: 0n,
		maxFeePerGas: 0n,
		maxPriorityFeePerGas: 0n,
		signature: "0x",
	};
	return {
		hash: getUserOperationHash({
			chainId: toChainId(order.originChainId),
			entryPointAddress: entryPoint09Address,
			entryPointVersion: "0.9",
			userOperation,
		}),
		userOp: toPackedUserOperation(userOperation),
	};
}

/** The swap's own nonce key, at sequence 0: ops of two swaps never wait for each other, and each runs once. */
export function userOpNonce(order: Pick<Order, "swapKey">): bigint {
	if (BigInt(order.swapKey) >> 128n !== 0n) throw new RangeError(`swapKey ${order.swapKey} is not a UUID`);
	return BigInt(order.swapKey) << 64n;
}

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
	return encodeFunctionData({
		abi: geoAccountAbi,
		functionName: "execute",
		args: [batchMode, executionData],
	});
}

/** viem reads only the address, for the hash; the signed authorization travels in the transaction. */
function authorizationForHash(delegate: Address) {
	return { address: delegate, chainId: 0, nonce: 0, r: "0x", s: "0x", yParity: 0 } as const;
}
