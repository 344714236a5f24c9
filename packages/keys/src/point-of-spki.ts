import { createPublicKey, type KeyObject } from "node:crypto";
import type { Hex } from "viem";

/**
 * Returns the point of a secp256k1 key in the form in which key services publish it; undefined if it is of another
 * kind.
 */
export function pointOfSpki(spki: Uint8Array | string): Hex | undefined {
	const { crv, x = "", y = "" } = keyOf(spki).export({ format: "jwk" });
	if (crv !== "secp256k1") return undefined;
	return `0x04${hexOf(x)}${hexOf(y)}`;
}

/** Returns the 32 bytes of an Ed25519 key in that form; undefined if it is of another kind. */
export function ed25519OfSpki(spki: Uint8Array | string): Uint8Array | undefined {
	const { crv, x = "" } = keyOf(spki).export({ format: "jwk" });
	return crv === "Ed25519" ? new Uint8Array(Buffer.from(x, "base64url")) : undefined;
}

function keyOf(spki: Uint8Array | string): KeyObject {
	return typeof spki === "string"
		? createPublicKey(spki)
		: createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
}

function hexOf(text: string): string {
	return Buffer.from(text, "base64url").toString("hex").padStart(64, "0");
}
