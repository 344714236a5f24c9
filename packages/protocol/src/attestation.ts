import { type Address, type Hex, hashTypedData, type TypedDataDefinition } from "viem";

/** What attesters say of a list of orders: their outputs were delivered, or never can be. */
export type AttestationKind = "Release" | "Refund";

export type AttestationMessage = {
	kind: AttestationKind;
	originChainId: number;
	escrow: Address;
	orderIds: readonly Hex[];
};

const types = {
	Release: [{ name: "orderIds", type: "bytes32[]" }],
	Refund: [{ name: "orderIds", type: "bytes32[]" }],
} as const;

/** The EIP-712 message that an attester signs. The domain binds it to one escrow on one chain. */
export function attestationTypedData({
	kind,
	originChainId,
	escrow,
	orderIds,
}: AttestationMessage): TypedDataDefinition<typeof types, AttestationKind> {
	return {
		domain: { name: "GeoEscrow", version: "1", chainId: originChainId, verifyingContract: escrow },
		types,
		primaryType: kind,
		message: { orderIds },
	};
}

/** The digest that the escrow recovers the signers from. */
export function attestationDigest(message: AttestationMessage): Hex {
	return hashTypedData(attestationTypedData(message));
}
