import { SwapError } from "@geoswap/protocol";
import { type Address, type Hex, hashMessage, isAddressEqual, type SignableMessage } from "viem";
import { recoverAddress } from "../secp256k1.ts";

/** Digests that callers sign by mistake, each with its name in the error. */
const mistakes: [looksLike: string, digest: (opHash: Hex) => Hex][] = [
	["hex_text", (opHash) => hashMessage(opHash as SignableMessage)],
	["hex_text", (opHash) => hashMessage(opHash.slice(2))],
	["no_prefix", (opHash) => opHash],
];

/** Throws unless the wallet signed the op's hash by `personal_sign` over its 32 bytes. */
export function checkOpSignature({
	opHash,
	signature,
	wallet,
}: {
	opHash: Hex;
	/** In its normal form. */
	signature: Hex;
	wallet: Address;
}): void {
	const recovered = recoverAddress({ hash: hashMessage({ raw: opHash }), signature });
	if (recovered && isAddressEqual(recovered, wallet)) return;
	const details = { expected: wallet, ...(recovered ? { recovered } : {}) };
	for (const [looksLike, digest] of mistakes) {
		const signer = recoverAddress({ hash: digest(opHash), signature });
		if (signer && isAddressEqual(signer, wallet)) {
			throw new SwapError("INVALID_SIGNATURE", { ...details, looksLike });
		}
	}
	throw new SwapError("INVALID_SIGNATURE", details);
}
