import type { SolanaAddress } from "@geoswap/protocol";
import { getBase58Encoder, type Signature } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";

/** A page that the node refuses is requested again with a tenth of its entries, down to one. */
const shrinkBy = 10;

/** A transaction that names an address. */
export type ListedSignature = {
	/** In base58, because decoding is slow and only few signatures of a list are used. */
	signature: Signature;
	isFailed: boolean;
	memo: string | null;
	/** The time of its block in seconds; undefined if the node does not know it. */
	timestamp: number | undefined;
};

/**
 * Lists transactions that name an address, newest first, beginning before the given one. A node may return fewer than
 * `limit` although there are more, so only an empty page is the end of the list. Anyone can make the list, and the memos
 * in it, as long as they pay for, so a page that the node refuses, for example for its size, is requested smaller.
 */
export async function listSignatures(
	{ chainId, rpc }: SolanaChain,
	{
		address,
		commitment,
		before,
		limit,
	}: { address: SolanaAddress; commitment: SolanaCommitment; before: Signature | undefined; limit: number },
): Promise<ListedSignature[]> {
	for (let size = limit; ; size = Math.max(1, Math.floor(size / shrinkBy))) {
		try {
			const asking = rpc.getSignaturesForAddress(address, {
				commitment,
				limit: size,
				...(before ? { before } : {}),
			});
			const page = await requestChain(chainId, asking.send());
			return page.map(({ signature, err, memo, blockTime }) => ({
				signature,
				isFailed: err !== null,
				memo,
				timestamp: blockTime === null ? undefined : Number(blockTime),
			}));
		} catch (error) {
			if (size === 1) throw error;
		}
	}
}

/** Converts a signature from base58. */
export function fromSignature(signature: Signature): Hex {
	return bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)));
}
