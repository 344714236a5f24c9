import type { EvmSigner, SignOptions, SolanaSigner } from "./signer.ts";

/**
 * Makes a signer show that its key signs. A signer that checks payloads would refuse a trial, so it tries the key
 * itself, and keeps the signature.
 */
export async function trySigner(signer: EvmSigner | SolanaSigner, options: SignOptions = {}): Promise<void> {
	if (signer.check) await signer.check(options);
	else if (signer.kind === "evm") await signer.sign(emptyHeartbeat, options);
	else await signer.sign(noTransaction, options);
}

/** A heartbeat of no chain, long ago. It decides nothing anywhere. */
const emptyHeartbeat = {
	kind: "heartbeat",
	message: { chainId: 0, finalizedNumber: 0, signedAtUnixSeconds: 0 },
} as const;
/** Bytes that no cluster accepts as a transaction's message. */
const noTransaction = new TextEncoder().encode("geoswapd signers check");
