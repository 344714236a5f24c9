import { generateKeyPairSync } from "node:crypto";
import type { SolanaAddress } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes } from "@solana/kit";

/** Returns a new key pair in the 64-byte form of wallets' files. */
export async function newSolanaKey(): Promise<{ address: SolanaAddress; bytes: Uint8Array }> {
	const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
	const bytes = new Uint8Array(Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]));
	return { address: (await createKeyPairSignerFromBytes(bytes)).address, bytes };
}
