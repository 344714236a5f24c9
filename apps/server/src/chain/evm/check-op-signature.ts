import { SwapError } from "@geoswap/protocol";
import {
	type Address,
	type Hex,
	hashMessage,
	isAddressEqual,
	recoverAddress,
	type SignableMessage,
} from "viem";

/** What callers sign by mistake, and how that is called. */
const mistakes: [looksLike: string, digest: (opHash: Hex) => Hex][] = [
	["hex_text", (opHash) => hashMessage(opHash as SignableMessage)],
	["hex_text", (opHash) => hashMessage(opHash.slice(2))],
	["no_prefix", (opHash) => opHash],
];

/** Throws unless the wallet signed the op's hash by `personal_sign` over its 32 bytes. */
export async function checkOpSignature({
	opHash,
	signature,
	wallet,
}: {
	opHash: Hex;
	/** In its normal form. */
	signature: Hex;
	wallet: Address;
}): Promise<void> {
	const recovered = await recover(hashMessage({ raw: opHash }), signature);
	if (recovered && isAddressEqual(recovered, wallet)) return;
	const details = { expected: wallet, ...(recovered ? { recovered } : {}) };
	for (const [looksLike, digest] of mistakes) {
		const signer = await recover(digest(opHash), signature);
		if (signer && isAddressEqual(signer, wallet)) {
			throw new SwapError("INVALID_SIGNATURE", { ...details, looksLike });
		}
	}
	throw new SwapError("INVALID_SIGNATURE", details);
}

/** Undefined where the bytes are no signature of anything. */
async function recover(hash: Hex, signature: Hex): Promise<Address | undefined> {
	try {
		return await recoverAddress({ hash, signature });
	} catch {
		return undefined;
	}
}
