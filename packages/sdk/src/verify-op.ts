import {
	type BuildResponse,
	type Order,
	orderDigest,
	orderId,
	orderToJson,
	orderTypedDataToJson,
} from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { at, expectSame, isSame, refuse } from "./expect-same.ts";
import { expectedOrder, type Terms } from "./expected-order.ts";
import { pinnedChain } from "./pinned-chain.ts";

export type OpToVerify = Terms & { build: BuildResponse };

export type VerifiedOp = {
	order: Order;
	/** The order's digest, which is `geoOpHash`. */
	hash: Hex;
	/** True if the wallet is, or will be, delegated to the account that accepts typed data only. */
	isTypedOnly: boolean;
};

/**
 * Returns the order to sign. It is made here, from the caller's request, the pins and the quoted minimum; only its
 * deadlines are taken from the build, within bounds. The build must then match it exactly. Any difference is refused
 * with the name of its field.
 */
export function verifyOp({ wallet, ...op }: OpToVerify & { wallet: Address }): VerifiedOp {
	const { build, pins } = op;
	const order = expectedOrder({ wallet, origin: "evm", ...op });
	const chainId = Number(order.originChainId);
	const { contracts } = pinnedChain(pins, { field: "intent.originChain", chainId });
	const delegates = [contracts.delegate, contracts.typedDelegate];
	const named = at(build, "geoOp.delegate");
	const delegate = delegates.find((pinned) => isSame(pinned, named));
	if (delegate === undefined) refuse("geoOp.delegate", delegates.join(" or "), named);
	const hash = orderDigest(order);
	expectSame(
		{
			geoOp: {
				order: orderToJson(order),
				orderId: orderId(order),
				chainId,
				delegate,
				typedData: orderTypedDataToJson(order),
			},
			geoOpHash: hash,
		},
		build,
	);
	return { order, hash, isTypedOnly: delegate === contracts.typedDelegate };
}
