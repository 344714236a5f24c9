import type { Hex } from "viem";
import type { SignOptions } from "./signer.ts";
import type { KeyName } from "./signer-error.ts";

/** A secp256k1 key in a place that signs any digest, such as a security module, a cloud's key service or the memory. */
export type DigestKey = {
	name: KeyName;
	/** The 65 bytes of the point, which begin with 04. */
	publicKey: Hex;
	/** Signs 32 bytes. Either of the two valid values of `s` may be returned. */
	signDigest: (digest: Uint8Array, options: SignOptions) => Promise<{ r: bigint; s: bigint }>;
};

/** An Ed25519 key in such a place. */
export type MessageKey = {
	name: KeyName;
	/** 32 bytes. */
	publicKey: Uint8Array;
	/** Returns the 64 bytes of the signature over the message itself (not over a hash of it). */
	signMessage: (message: Uint8Array, options: SignOptions) => Promise<Uint8Array>;
};
