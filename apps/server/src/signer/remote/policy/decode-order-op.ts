import { geoAccountAbi, geoEscrowAbi, type Order, orderUserOp, toWord } from "@geoswap/protocol";
import {
	type Address,
	decodeAbiParameters,
	decodeFunctionData,
	type Hex,
	hashMessage,
	size,
	slice,
} from "viem";
import type { PackedUserOperation } from "viem/account-abstraction";
import { recoverAddress } from "../../../chain/evm/secp256k1.ts";
import { isLowS } from "../../../chain/evm/wallet/normalize-signature.ts";
import { refuse } from "./refusal.ts";

const callsParameter = [
	{
		type: "tuple[]",
		components: [
			{ name: "to", type: "address" },
			{ name: "value", type: "uint256" },
			{ name: "data", type: "bytes" },
		],
	},
] as const;

/** The order that an op opens, and the delegate of its wallet. */
export type OrderOp = { order: Order; delegate: Address };

/**
 * Returns the order that a wallet's op opens. Refuses an op that is not exactly the one that follows from its order, or
 * that its wallet has not signed under one of our delegates.
 */
export function decodeOrderOp(
	userOp: PackedUserOperation,
	{
		chainId,
		escrows,
		delegates,
	}: { chainId: number; escrows: readonly Address[]; delegates: readonly Address[] },
): OrderOp {
	const { order, allowance } = readOrder(userOp, chainId);
	if (!escrows.some((escrow) => toWord(escrow) === order.escrow))
		refuse("not-ours", "an op opens no order in our escrow");
	const delegate = delegates.find((one) => isSigned(userOp, { order, allowance, delegate: one }));
	if (!delegate) refuse("bad-signature", "an op is not signed by its wallet for our account");
	return { order, delegate };
}

function readOrder(userOp: PackedUserOperation, chainId: number): { order: Order; allowance: bigint } {
	try {
		const { functionName, args } = decodeFunctionData({ abi: geoAccountAbi, data: userOp.callData });
		if (functionName !== "execute") throw new Error("the op calls something else");
		const [calls] = decodeAbiParameters(callsParameter, args[1]);
		const open = calls.at(-1);
		if (!open) throw new Error("the op calls nothing");
		const opened = decodeFunctionData({ abi: geoEscrowAbi, data: open.data });
		if (opened.functionName !== "open") throw new Error("the op's last call is another");
		const order: Order = {
			...opened.args[0],
			originChainId: BigInt(chainId),
			escrow: toWord(open.to),
			wallet: toWord(userOp.sender),
		};
		// An allowance is cleared by a call of its own; its amount is in no byte of the op.
		const allowance = calls.length > 2 ? 1n : 0n;
		const gas = gasOf(userOp);
		const rebuilt = {
			...orderUserOp({ order, delegate: open.to, allowance, gas }).userOp,
			signature: userOp.signature,
		};
		const isSame = (Object.keys(rebuilt) as (keyof PackedUserOperation)[]).every(
			(field) => String(rebuilt[field]).toLowerCase() === String(userOp[field]).toLowerCase(),
		);
		if (!isSame) throw new Error("the op has more in it than its order");
		return { order, allowance };
	} catch (error) {
		return refuse("malformed", `an op does not open an order: ${(error as Error).message.split("\n")[0]}`);
	}
}

function gasOf({ accountGasLimits }: PackedUserOperation): {
	verificationGasLimit: bigint;
	callGasLimit: bigint;
} {
	return {
		verificationGasLimit: BigInt(slice(accountGasLimits, 0, 16)),
		callGasLimit: BigInt(slice(accountGasLimits, 16, 32)),
	};
}

function isSigned(
	userOp: PackedUserOperation,
	{ order, allowance, delegate }: { order: Order; allowance: bigint; delegate: Address },
): boolean {
	const signature: Hex = userOp.signature;
	// The account refuses the twin of a signature, and the whole bundle would fail with it.
	if (size(signature) !== 65 || !isLowS(slice(signature, 32, 64))) return false;
	if (![27, 28].includes(Number(slice(signature, 64)))) return false;
	const { hash } = orderUserOp({ order, delegate, allowance, gas: gasOf(userOp) });
	return (
		recoverAddress({ hash: hashMessage({ raw: hash }), signature })?.toLowerCase() ===
		userOp.sender.toLowerCase()
	);
}
