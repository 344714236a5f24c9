import {
	fromSolanaWord,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { fromSignature, type Landed, listSignatures, readLanded } from "./read-landed.ts";

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

/** Returns whether transfers of a token can be made, because it is native or an asset whose decimals are known. */
export function isListed({ assets }: Pick<SolanaDeployment, "assets">, word: Hex): boolean {
	const token = fromSolanaWord(word);
	return token === solanaNativeToken || assets.some(({ address }) => address === token);
}
