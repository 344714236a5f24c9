import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import { type SignatureKind, SwapError } from "@geoswap/protocol";
import { type Address, type Hex, hashMessage, isAddressEqual, type SignableMessage } from "viem";

/** The digest that each kind of signature is made over. */
const digests: Record<SignatureKind, (opHash: Hex) => Hex> = {
	typed: (opHash) => opHash,
	personal: (opHash) => hashMessage({ raw: opHash }),
};

/** Digests that callers sign by mistake, each with its name in the error. */
const mistakes: [looksLike: string, digest: (opHash: Hex) => Hex][] = [
	["hex_text", (opHash) => hashMessage(opHash as SignableMessage)],
	["hex_text", (opHash) => hashMessage(opHash.slice(2))],
];

/** The name in the error for a signature of a kind that was not to be used. */
const names: Record<SignatureKind, string> = { typed: "typed_data", personal: "personal_sign" };

/**
 * Returns how the wallet signed the order: as typed data, whose digest is the op's hash, or by `personal_sign` over the
 * hash's 32 bytes. Throws if it did neither, or if that kind is not accepted.
 */
export function checkOpSignature({
	opHash,
	signature,
	wallet,
	accepted,
}: {
	opHash: Hex;
	/** In its normal form. */
	signature: Hex;
	wallet: Address;
	/** The kinds that the wallet's account accepts, or of these the one that the request names. */
	accepted: readonly SignatureKind[];
}): SignatureKind {
	const isSigned = (digest: Hex) => {
		const signer = recoverAddress({ hash: digest, signature });
		return signer !== undefined && isAddressEqual(signer, wallet);
	};
	const kind = (["typed", "personal"] as const).find((one) => isSigned(digests[one](opHash)));
	if (kind && accepted.includes(kind)) return kind;
	const recovered = recoverAddress({ hash: digests[accepted[0] ?? "personal"](opHash), signature });
	const looksLike = kind ? names[kind] : mistakes.find(([, digest]) => isSigned(digest(opHash)))?.[0];
	throw new SwapError("INVALID_SIGNATURE", {
		expected: wallet,
		...(recovered && { recovered }),
		...(looksLike !== undefined && { looksLike }),
	});
}
