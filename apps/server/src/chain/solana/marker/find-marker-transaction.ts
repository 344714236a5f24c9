import { markerAddress, type SolanaAddress, SwapError } from "@geoswap/protocol";
import {
	getBase58Encoder,
	isSolanaError,
	type Signature,
	SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
} from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { askChain } from "../../ask-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { type Landed, readLanded } from "../read/read-landed.ts";
import { toSignature } from "../read/read-statuses.ts";
import { madeMarkerOwner } from "./makes-marker.ts";

/** Transactions that one search looks at, each by a request of its own. Jobs stay locked meanwhile. */
export const looksPerSearch = 50;
const looksAtOnce = 10;

/**
 * Returns the transaction that made an order's marker, or where the next search has to continue. Looks at the
 * journalled signatures first, then at what the chain lists for the marker's address, newest first. Anyone can name
 * that address as often as they like, so a search looks at a part of the list only. Entries added meanwhile are newer,
 * so each search comes closer.
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
	const made = await firstThatMakes(journalled);
	if (made) return { hash: made };
	const { chainId, rpc } = chain;
	const page = await askChain(
		chainId,
		rpc
			.getSignaturesForAddress(await markerAddress({ base, orderId }), {
				commitment: "confirmed",
				limit: looksPerSearch,
				...(before ? { before: toSignature(before) } : {}),
			})
			.send(),
	);
	const hash = await firstThatMakes(
		page.filter(({ err }) => err === null).map(({ signature }) => toHash(signature)),
	);
	if (hash) return { hash };
	const last = page.at(-1);
	return { before: last && page.length === looksPerSearch ? toHash(last.signature) : undefined };

	async function firstThatMakes(signatures: readonly Hex[]): Promise<Hex | undefined> {
		for (let i = 0; i < signatures.length; i += looksAtOnce) {
			const some = signatures.slice(i, i + looksAtOnce);
			const landed = await Promise.all(some.map((signature) => readTransaction(chain, signature)));
			const found = landed.find((one) => one && madeMarkerOwner(one, { base, orderId }));
			if (found) return found.signature;
		}
		return undefined;
	}
}

/**
 * Returns undefined also if the transaction cannot be decoded, or is of a newer version than this code knows: ours are
 * neither, and a stranger's must not end the search.
 */
async function readTransaction(chain: SolanaChain, signature: Hex): Promise<Landed | undefined> {
	try {
		return await readLanded(chain, signature);
	} catch (err) {
		const isNewer =
			err instanceof SwapError &&
			isSolanaError(err.cause, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION);
		if (err instanceof SwapError && !isNewer) throw err;
		return undefined;
	}
}

function toHash(signature: Signature): Hex {
	return bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)));
}
