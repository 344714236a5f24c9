import {
	type BuildResponse,
	entryPointAddress,
	orderCalls,
	orderId,
	orderToJson,
	orderUserOp,
} from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { expectedOrder, type Terms } from "./expected-order.ts";
import { pinnedChain } from "./pinned-chain.ts";
import { at, bounded, expectSame, isSame, natural, refuse } from "./wire-value.ts";

export type OpToVerify = Terms & { build: BuildResponse };

const maxVerificationGas = 200_000n;
const maxCallGas = 1_000_000n;

/**
 * Returns the hash to sign. The op is made here, from the caller's request, the pins and the quoted minimum; only
 * deadlines, delegate, allowance and gas limits are taken from the build, each within bounds. Then the build must say
 * exactly the same: any difference is refused with the name of its field.
 */
export function verifyOp({ wallet, ...op }: OpToVerify & { wallet: Address }): Hex {
	const { build, pins } = op;
	const order = expectedOrder({ wallet, origin: "evm", ...op });
	const { delegate: current, earlierDelegates } = pinnedChain(pins, {
		field: "intent.originChain",
		chainId: Number(order.originChainId),
	}).contracts;

	const named = at(build, "geoOp.delegate");
	const delegate = [current, ...earlierDelegates].find((pinned) => isSame(pinned, named));
	if (delegate === undefined) refuse("geoOp.delegate", [current, ...earlierDelegates].join(" or "), named);
	const allowance = natural("geoOp.allowance", at(build, "geoOp.allowance"));
	const limit = (field: string, most: bigint) => bounded(field, at(build, field), most);
	const gas = {
		verificationGasLimit: limit("geoOp.gas.verificationGasLimit", maxVerificationGas),
		callGasLimit: limit("geoOp.gas.callGasLimit", maxCallGas),
	};

	const { hash, userOp } = orderUserOp({ order, delegate, allowance, gas });
	const { signature: _, ...unsigned } = userOp;
	const expected = {
		geoOp: {
			order: orderToJson(order),
			orderId: orderId(order),
			entryPoint: entryPointAddress,
			chainId: Number(order.originChainId),
			delegate,
			allowance,
			gas,
			calls: orderCalls({ order, allowance }),
			userOp: unsigned,
		},
		geoOpHash: hash,
	};
	expectSame(expected, build);
	return hash;
}
