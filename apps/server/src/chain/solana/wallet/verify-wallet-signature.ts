import type { SolanaAddress } from "@geoswap/protocol";
import { getPublicKeyFromAddress, isSignatureBytes, verifySignature } from "@solana/kit";

/** Returns whether this is the wallet's signature over exactly these bytes. An address that is no key signs nothing. */
export async function verifyWalletSignature({
	wallet,
	message,
	signature,
}: {
	wallet: SolanaAddress;
	message: Uint8Array;
	signature: Uint8Array;
}): Promise<boolean> {
	if (!isSignatureBytes(signature)) return false;
	try {
		return await verifySignature(await getPublicKeyFromAddress(wallet), signature, message);
	} catch {
		return false;
	}
}
