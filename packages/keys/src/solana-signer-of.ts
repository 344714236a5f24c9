import { createPublicKey, verify } from "node:crypto";
import { getAddressDecoder } from "@solana/kit";
import type { MessageKey } from "./digest-key.ts";
import type { SolanaSigner } from "./signer.ts";
import { SignerError } from "./signer-error.ts";

/** Makes a signer of an Ed25519 key. Each signature is verified before it is returned. */
export function solanaSignerOf(key: MessageKey): SolanaSigner {
	const address = getAddressDecoder().decode(key.publicKey);
	const x = Buffer.from(key.publicKey).toString("base64url");
	const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
	return {
		kind: "solana",
		name: key.name,
		address,
		async sign(message, options = {}) {
			const signature = await key.signMessage(message, options);
			if (signature.length !== 64 || !verify(null, message, publicKey, signature)) {
				throw new SignerError(key.name, `what it returned is not a signature of ${address}`, {
					isRetryable: true,
				});
			}
			return signature;
		},
	};
}
