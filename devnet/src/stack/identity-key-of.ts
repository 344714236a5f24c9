import type { KeyObject } from "node:crypto";
import { getBase58Decoder } from "@solana/kit";

/** Returns an Ed25519 public key as Restate writes it, and as a worker's configuration contains it. */
export function identityKeyOf(publicKey: KeyObject): string {
	// The DER encoding of such a key ends with its 32 bytes.
	const bytes = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
	return `publickeyv1_${getBase58Decoder().decode(bytes)}`;
}
