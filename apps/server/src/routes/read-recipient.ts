import { addressOfWord, fromSolanaWord, isSolana, type Order } from "@geoswap/protocol";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { readSolanaWallet } from "../chain/solana/read-solana-wallet.ts";
import { servedSolana } from "./served-solana.ts";

/** Whether the recipient can be paid the order's output. Only on Solana is that known beforehand. */
export async function readRecipient(
	solana: SolanaChain | undefined,
	{ destinationChainId, outputToken, recipient }: Order,
): Promise<{ isPayable: boolean }> {
	if (!isSolana(destinationChainId)) return { isPayable: true };
	return readSolanaWallet(servedSolana(solana, outputToken), {
		wallet: fromSolanaWord(recipient),
		token: addressOfWord(destinationChainId, outputToken),
	});
}
