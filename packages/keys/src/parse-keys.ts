import { createPrivateKey, createPublicKey } from "node:crypto";
import { getBase58Encoder } from "@solana/kit";
import * as tiny from "tiny-secp256k1";
import { hexToBytes } from "viem";
import { ConfigError } from "./config/config-error.ts";

// Errors never quote the texts, because a wrong text may still contain a key.

/** Parses a private key of secp256k1. */
export function parseEvmKey(field: string, text: string): Uint8Array {
	if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
		throw new ConfigError(field, "is not a private key of 32 bytes in hex");
	}
	const secret = hexToBytes(text as `0x${string}`);
	if (!tiny.isPrivate(secret)) throw new ConfigError(field, "is not a private key of secp256k1");
	return secret;
}

/** Parses private keys of secp256k1, each with the chain that it is for. */
export function parseChainKeys(field: string, text: string): { chainId: number; secret: Uint8Array }[] {
	return text.split(",").map((entry) => {
		const [chainId = "", key = ""] = entry.trim().split(":");
		if (!/^[1-9]\d*$/.test(chainId) || !/^0x[0-9a-fA-F]{64}$/.test(key)) {
			throw new ConfigError(field, "has an entry that is not chainId:0xprivatekey, comma-separated");
		}
		return { chainId: Number(chainId), secret: parseEvmKey(field, key) };
	});
}

/** Parses the 64 bytes of an Ed25519 key pair in base58, and returns the seed, its first half. */
export function parseSolanaKey(field: string, text: string): Uint8Array {
	if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) {
		throw new ConfigError(field, "must be the 64 bytes of a key pair in base58");
	}
	const bytes = new Uint8Array(getBase58Encoder().encode(text));
	const seed = bytes.slice(0, 32);
	if (bytes.length !== 64 || !Buffer.from(publicKeyOfSeed(seed)).equals(bytes.subarray(32))) {
		throw new ConfigError(field, "has a key that is not the 64 bytes of a key pair");
	}
	return seed;
}

/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Returns the private key of an Ed25519 seed. */
export function privateKeyOfSeed(seed: Uint8Array) {
	return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
}

export function publicKeyOfSeed(seed: Uint8Array): Uint8Array {
	const { x = "" } = createPublicKey(privateKeyOfSeed(seed)).export({ format: "jwk" });
	return new Uint8Array(Buffer.from(x, "base64url"));
}
