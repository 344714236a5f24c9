import { type Address, type Hex, isAddressEqual, size, slice } from "viem";
import { isLowS } from "./is-low-s.ts";
import { recoverAddress } from "./recover-address.ts";

/**
 * Returns whether contracts accept the signature of a hash as this signer's. It must be in its normal form, with 65
 * bytes and low s.
 */
export function isSignedBy(signer: Address, { hash, signature }: { hash: Hex; signature: Hex }): boolean {
	if (size(signature) !== 65 || !isLowS(slice(signature, 32, 64))) return false;
	if (![27, 28].includes(Number(slice(signature, 64)))) return false;
	const recovered = recoverAddress({ hash, signature });
	return recovered !== undefined && isAddressEqual(recovered, signer);
}
