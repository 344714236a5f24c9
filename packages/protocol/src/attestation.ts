import { type Hex, hashTypedData, type TypedDataDefinition } from "viem";
import { addressOfWord, isSolana } from "./chain-address.ts";
import { toChainId } from "./chain-id.ts";
import { escrowDomain, type Order, orderId } from "./order.ts";

/** The statement that attesters sign about orders. `Release`: the output was delivered. `Refund`: it never can be. */
export type AttestationKind = "Release" | "Refund";

export type AttestationMessage = {
	kind: AttestationKind;
	originChainId: number;
	/** The escrow contract, or the 32 bytes of the program on Solana. */
	escrow: Hex;
	orderIds: readonly Hex[];
};

const types = {
	Release: [{ name: "orderIds", type: "bytes32[]" }],
	Refund: [{ name: "orderIds", type: "bytes32[]" }],
} as const;

/** Returns the message about these orders. All must be of one escrow, because a message is bound to one. */
export function attestationMessage(kind: AttestationKind, orders: readonly Order[]): AttestationMessage {
	const [first] = orders;
	if (first === undefined) throw new RangeError("an attestation needs at least one order");
	const { originChainId, escrow } = first;
	if (orders.some((order) => order.originChainId !== originChainId || order.escrow !== escrow)) {
		throw new RangeError("the orders of an attestation must belong to one escrow");
	}
	return {
		kind,
		originChainId: toChainId(originChainId),
		escrow: addressOfWord(originChainId, escrow),
		orderIds: orders.map(orderId),
	};
}

/** Returns the EIP-712 message that an attester signs. The domain binds it to one escrow on one chain. */
export function attestationTypedData({
	kind,
	originChainId,
	escrow,
	orderIds,
}: AttestationMessage): TypedDataDefinition<typeof types, AttestationKind> {
	return {
		domain: attestationDomain({ chainId: originChainId, escrow }),
		types,
		primaryType: kind,
		message: { orderIds },
	};
}

/** Returns the escrow's domain. A program's address is too long for `verifyingContract`, so it is the `salt`. */
function attestationDomain({ chainId, escrow }: { chainId: number; escrow: Hex }) {
	const { verifyingContract, ...domain } = escrowDomain({ chainId, escrow });
	return isSolana(chainId) ? { ...domain, salt: escrow } : { ...domain, verifyingContract };
}

/** Returns the digest from which the escrow recovers the signers. */
export function attestationDigest(message: AttestationMessage): Hex {
	return hashTypedData(attestationTypedData(message));
}
