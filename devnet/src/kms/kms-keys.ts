import { createPrivateKey, createPublicKey, sign as signBytes } from "node:crypto";
import { bytesToHex, hexToBytes } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";

/** A key of the KMS stand-in. */
export type KmsKey = {
	name: string;
	curve: "secp256k1" | "ed25519";
	/** 32 bytes. */
	secret: Uint8Array;
};

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The bytes that come before a public key of each kind in its standard form (SubjectPublicKeyInfo). */
const spkiPrefix = {
	secp256k1: Buffer.from("3056301006072a8648ce3d020106052b8104000a034200", "hex"),
	ed25519: Buffer.from("302a300506032b6570032100", "hex"),
};
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

export function spkiOf({ curve, secret }: KmsKey): Buffer {
	if (curve === "secp256k1") {
		return Buffer.concat([
			spkiPrefix.secp256k1,
			hexToBytes(privateKeyToAccount(bytesToHex(secret)).publicKey),
		]);
	}
	const { x = "" } = createPublicKey(ed25519Key(secret)).export({ format: "jwk" });
	return Buffer.concat([spkiPrefix.ed25519, Buffer.from(x, "base64url")]);
}

/** Signs 32 bytes. The real services may return the high `s`; this stand-in always does. */
export async function signDigest({ secret }: KmsKey, digest: Uint8Array): Promise<Buffer> {
	const { r, s } = await sign({ hash: bytesToHex(digest), privateKey: bytesToHex(secret) });
	const high = BigInt(s) > curveOrder / 2n ? BigInt(s) : curveOrder - BigInt(s);
	const parts = Buffer.concat([derInteger(BigInt(r)), derInteger(high)]);
	return Buffer.concat([Buffer.from([0x30, parts.length]), parts]);
}

export function signMessage({ secret }: KmsKey, message: Uint8Array): Buffer {
	return signBytes(null, message, ed25519Key(secret));
}

function ed25519Key(secret: Uint8Array) {
	return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, secret]), format: "der", type: "pkcs8" });
}

function derInteger(value: bigint): Buffer {
	const digits = value.toString(16);
	const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, "hex");
	// A leading bit would make the number negative.
	const positive = (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
	return Buffer.concat([Buffer.from([0x02, positive.length]), positive]);
}
