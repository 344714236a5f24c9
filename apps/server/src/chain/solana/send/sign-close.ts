import type { SolanaAddress } from "@geoswap/protocol";
import { getCloseAccountInstruction } from "@solana-program/token";
import type { MarkerOwner } from "../marker/read-markers.ts";
import { type SignedTransaction, type SigningParts, signInstructions } from "./sign-instructions.ts";
import type { SolanaKeys } from "./solana-keys.ts";

/** The most markers that fit into a transaction. */
export const maximumClosedMarkers = 20;

const unitLimitPerMarker = 6_000;

/** Closes markers, whose lamports come back to the fee payer. Their orders are no longer guarded. */
export async function signClose({
	keys,
	markers,
	...parts
}: SigningParts & {
	keys: SolanaKeys;
	markers: readonly { address: SolanaAddress; owner: MarkerOwner }[];
}): Promise<SignedTransaction> {
	if (markers.length === 0 || markers.length > maximumClosedMarkers) {
		throw new RangeError(`${markers.length} markers cannot be closed at once`);
	}
	const instructions = markers.map(({ address, owner }) =>
		getCloseAccountInstruction({
			account: address,
			destination: parts.feePayer.address,
			owner: keys[owner],
		}),
	);
	return signInstructions({ ...parts, unitLimit: unitLimitPerMarker * markers.length, instructions });
}
