import type { SolanaAddress } from "@geoswap/protocol";
import type { SolanaChain } from "../../../chain/solana/connect-solana.ts";
import { readMarkerOwners } from "../../../chain/solana/marker/read-markers.ts";
import { listSignatures } from "../../../chain/solana/read/list-signatures.ts";
import { refuse } from "../policy/refusal.ts";
import { shortMessage } from "./create-closings.ts";

/** Reads a time in milliseconds before which a marker was made; undefined if the node does not show it. */
export type ReadMarkerTime = (marker: SolanaAddress) => Promise<number | undefined>;

/**
 * Creates the reading of how old markers are that this signer did not make. It is the time of the newest transaction that
 * names the marker: anyone can name its address long before it is made. Refuses for now if the node does not answer.
 */
export function createMarkerTimes(solana: SolanaChain | undefined): ReadMarkerTime {
	return async (marker) => {
		if (!solana) return undefined;
		try {
			// First, so that the transaction that made the marker is in the list.
			const [owner] = await readMarkerOwners(solana, { addresses: [marker], commitment: "finalized" });
			if (!owner) return undefined;
			const newest = { address: marker, commitment: "confirmed", before: undefined, limit: 1 } as const;
			const [listed] = await listSignatures(solana, newest);
			return listed?.timestamp === undefined ? undefined : listed.timestamp * 1_000;
		} catch (error) {
			return refuse("unproven", `Solana does not answer the signer: ${shortMessage(error)}`);
		}
	};
}
