import { sign } from "node:crypto";
import * as tiny from "tiny-secp256k1";
import { bytesToHex, hexToBigInt } from "viem";
import type { DigestKey, MessageKey } from "../digest-key.ts";
import { privateKeyOfSeed, publicKeyOfSeed } from "../parse-keys.ts";
import { curve } from "../signature/recover-address.ts";
import type { KeyName } from "../signer-error.ts";

/** Returns a key that this process holds in its memory. Throws if the 32 bytes are not a key of the curve. */
export function memoryDigestKey(name: KeyName, secret: Uint8Array): DigestKey {
	const publicKey = tiny.isPrivate(secret) ? tiny.pointFromScalar(secret, false) : null;
	if (!publicKey) throw new RangeError("the 32 bytes are not a private key of secp256k1");
	return {
		name,
		publicKey: bytesToHex(publicKey),
		async signDigest(digest) {
			const { r, s } = curve.sign(bytesToHex(digest), secret);
			return { r: hexToBigInt(r), s: hexToBigInt(s) };
		},
	};
}

/** Returns an Ed25519 key that this process holds in its memory. */
export function memoryMessageKey(name: KeyName, seed: Uint8Array): MessageKey {
	const key = privateKeyOfSeed(seed);
	return {
		name,
		publicKey: publicKeyOfSeed(seed),
		signMessage: async (message) => new Uint8Array(sign(null, message, key)),
	};
}
