import { concat, type Hex, size, slice } from "viem";

/** How an order's digest was signed: as typed data, or by `personal_sign` of its 32 bytes. */
export type SignatureKind = "typed" | "personal";

/** A signature of 65 bytes. `mandate`, from `encodeMandate`, is set if an agent signed instead of the wallet. */
export type OrderSignature = { kind: SignatureKind; signature: Hex; mandate?: Hex | undefined };

const kindBytes: Record<SignatureKind, Hex> = { typed: "0x00", personal: "0x01" };

/** The length of a proof without a mandate: the kind and a signature. */
const signatureEnd = 66;

/** Returns the proof that a wallet's account accepts. */
export function orderProof({ kind, signature, mandate = "0x" }: OrderSignature): Hex {
	return concat([kindBytes[kind], signature, mandate]);
}

/** Returns the parts of a proof, or undefined if it is not one that `orderProof` makes. */
export function readOrderProof(proof: Hex): OrderSignature | undefined {
	if (size(proof) < signatureEnd) return undefined;
	const kind = (["typed", "personal"] as const).find((one) => kindBytes[one] === slice(proof, 0, 1));
	if (!kind) return undefined;
	const signature = slice(proof, 1, signatureEnd);
	return size(proof) === signatureEnd
		? { kind, signature }
		: { kind, signature, mandate: slice(proof, signatureEnd) };
}
