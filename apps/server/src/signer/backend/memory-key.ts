import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import * as tiny from "tiny-secp256k1";
import { bytesToHex, hexToBigInt } from "viem";
import { curve } from "../../chain/evm/secp256k1.ts";
import type { DigestKey, MessageKey } from "../digest-key.ts";
import type { KeyName } from "../signer-error.ts";

/** Returns a key that this process holds in its memory. Throws if the 32 bytes are no key of the curve. */
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

/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Returns an Ed25519 key that this process holds in its memory. */
export function memoryMessageKey(name: KeyName, seed: Uint8Array): MessageKey {
	const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
	const { x = "" } = createPublicKey(key).export({ format: "jwk" });
	return {
		name,
		publicKey: new Uint8Array(Buffer.from(x, "base64url")),
		signMessage: async (message) => new Uint8Array(sign(null, message, key)),
	};
}
