import { type AttesterSet, attesterSetHash } from "@geoswap/protocol";
import { VerificationError } from "./verification-error.ts";

/**
 * Throws unless the hash of a pinned attester set is that of its attesters. Orders carry the hash alone, so it must be
 * the hash of the attesters that the caller trusts.
 */
export function expectAttesterSet(
	chainId: number,
	{ hash: pinned, ...set }: AttesterSet & { hash: string },
): void {
	const field = `pins.${chainId}.attesterSet`;
	const hash = hashOf(field, set);
	if (hash !== pinned.toLowerCase()) {
		throw new VerificationError({ field: `${field}.hash`, expected: hash, actual: pinned });
	}
}

function hashOf(field: string, set: AttesterSet): string {
	try {
		return attesterSetHash(set);
	} catch (error) {
		throw new VerificationError({
			field,
			expected: "a valid attester set",
			actual: (error as Error).message,
		});
	}
}
