import { markerAddress, type SolanaAddress } from "@geoswap/protocol";
import { getBase58Encoder, type Signature } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { askChain } from "../ask-chain.ts";
import type { SolanaChain } from "./connect-solana.ts";
import { madeMarkerOwner } from "./makes-marker.ts";
import { readLanded } from "./read-landed.ts";

const signaturesPerRequest = 1000;
/** Anyone may name the address in transactions of theirs. Jobs stay locked meanwhile, so the search ends. */
const mostRequests = 10;
const signaturesLookedAt = 100;

/** The transaction that made an order's marker, where one of the oldest at its address did. */
export async function findMarkerTransaction(
	chain: SolanaChain,
	{ base, orderId }: { base: SolanaAddress; orderId: Hex },
): Promise<Hex | undefined> {
	const signatures = await successesAt(chain, await markerAddress({ base, orderId }));
	// The oldest first: anyone may send lamports to it later, as often as they like.
	for (const signature of signatures.toReversed().slice(0, signaturesLookedAt)) {
		const landed = await readLanded(chain, signature);
		if (landed && madeMarkerOwner(landed, { base, orderId })) return signature;
	}
	return undefined;
}

/** Newest first; none where the oldest are out of reach. */
async function successesAt({ chainId, rpc }: SolanaChain, address: SolanaAddress): Promise<Hex[]> {
	const found: Hex[] = [];
	let before: Signature | undefined;
	for (let requests = 0; requests < mostRequests; requests++) {
		const page = await askChain(
			chainId,
			rpc
				.getSignaturesForAddress(address, {
					commitment: "confirmed",
					limit: signaturesPerRequest,
					...(before ? { before } : {}),
				})
				.send(),
		);
		found.push(...page.filter(({ err }) => err === null).map(({ signature }) => toHash(signature)));
		before = page.at(-1)?.signature;
		if (page.length < signaturesPerRequest) return found;
	}
	return [];
}

function toHash(signature: Signature): Hex {
	return bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)));
}
