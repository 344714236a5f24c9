import { fromSolanaWord, type SolanaDeployment, solanaNativeToken } from "@geoswap/protocol";
import type { Hex } from "viem";

/** Returns whether transfers of a token can be made, because it is native or an asset whose decimals are known. */
export function isListed({ assets }: Pick<SolanaDeployment, "assets">, word: Hex): boolean {
	const token = fromSolanaWord(word);
	return token === solanaNativeToken || assets.some(({ address }) => address === token);
}
