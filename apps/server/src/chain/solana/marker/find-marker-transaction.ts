import { markerAddress, type SolanaAddress } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import type { Landed } from "../read/read-landed.ts";
import { findListedTransaction, findTransaction } from "./find-listed-transaction.ts";
import { madeMarkerOwner } from "./makes-marker.ts";

/**
 * Returns the transaction that made an order's marker, or where the next search has to continue. Looks at the
 * journalled signatures first, then at a part of what the chain lists for the marker's address. At the end of that list
 * the search begins anew, so a transaction that the node did not return is requested again.
 */
export async function findMarkerTransaction(
	chain: SolanaChain,
	{
		base,
		orderId,
		journalled,
		before,
	}: {
		base: SolanaAddress;
		orderId: Hex;
		journalled: readonly Hex[];
		/** The search covers transactions older than this one; undefined to begin with the newest. */
		before: Hex | undefined;
	},
): Promise<{ hash: Hex } | { hash?: undefined; before: Hex | undefined }> {
	const isSought = (landed: Landed) => madeMarkerOwner(landed, { base, orderId }) !== undefined;
	const made = await findTransaction(chain, { hashes: journalled, commitment: "confirmed", isSought });
	if (made) return { hash: made };
	const address = await markerAddress({ base, orderId });
	return findListedTransaction(chain, { address, commitment: "confirmed", before, isSought });
}
