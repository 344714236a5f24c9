import type { SolanaAddress } from "@geoswap/protocol";
import type { SolanaChain } from "../connect-solana.ts";
import { fromSignature, listSignatures } from "./list-signatures.ts";
import { type Landed, readLanded } from "./read-landed.ts";

/**
 * The number of newest transactions that are read. It is limited because anyone can name an address in transactions.
 */
const looks = 50;

/** Returns the newest final transactions that name an address and succeeded, oldest first. */
export async function readListed(chain: SolanaChain, address: SolanaAddress): Promise<Landed[]> {
	const listed = await listSignatures(chain, {
		address,
		commitment: "finalized",
		before: undefined,
		limit: looks,
	});
	const hashes = listed.filter(({ isFailed }) => !isFailed).map(({ signature }) => fromSignature(signature));
	const landed = await Promise.all(hashes.map((hash) => readLanded(chain, hash, "finalized")));
	return landed.flatMap((one) => one ?? []).toReversed();
}
