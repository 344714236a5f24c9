import type { SolanaAddress } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";
import { fromSignature, listSignatures } from "../read/list-signatures.ts";
import { type Landed, readLanded } from "../read/read-landed.ts";
import { toSignature } from "../read/read-statuses.ts";

/** Transactions that one search looks at, each by a request of its own. Jobs stay locked meanwhile. */
export const looksPerSearch = 50;
const looksAtOnce = 10;

/**
 * Looks at a page of the transactions that name an address, newest first, and returns the one that is sought, or where
 * the next search has to continue: undefined for the newest again. Anyone can name the address as often as they like.
 * Entries added meanwhile are newer, so each search comes closer.
 */
export async function findListedTransaction(
	chain: SolanaChain,
	{
		address,
		commitment,
		before,
		isSought,
	}: {
		address: SolanaAddress;
		commitment: SolanaCommitment;
		before: Hex | undefined;
		isSought: (landed: Landed) => boolean;
	},
): Promise<{ hash: Hex } | { hash?: undefined; before: Hex | undefined }> {
	const page = await listSignatures(chain, {
		address,
		commitment,
		before: before && toSignature(before),
		limit: looksPerSearch,
	});
	const hash = await findTransaction(chain, {
		hashes: page.filter(({ isFailed }) => !isFailed).map(({ signature }) => fromSignature(signature)),
		commitment,
		isSought,
	});
	if (hash) return { hash };
	const last = page.at(-1);
	return { before: last && fromSignature(last.signature) };
}

/**
 * Returns the first of these transactions that is sought. One that the node does not return or that cannot be decoded is
 * skipped: a stranger's must not end the search.
 */
export async function findTransaction(
	chain: SolanaChain,
	{
		hashes,
		commitment,
		isSought,
	}: { hashes: readonly Hex[]; commitment: SolanaCommitment; isSought: (landed: Landed) => boolean },
): Promise<Hex | undefined> {
	for (let i = 0; i < hashes.length; i += looksAtOnce) {
		const some = hashes.slice(i, i + looksAtOnce);
		const read = await Promise.allSettled(some.map((hash) => readLanded(chain, hash, commitment)));
		const landed = read.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : []));
		const found = landed.find(isSought);
		if (found) return found.signature;
	}
	return undefined;
}
