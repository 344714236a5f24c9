import { addressOfWord, fromSolanaWord, isSolana, type Order } from "@geoswap/protocol";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { KnownRecipient } from "../../desk/desk.ts";
import { servedSolana } from "../origin/served-solana.ts";

/**
 * Reads whether the recipient can be paid the order's output and has an account for it. Only on Solana is that known
 * beforehand.
 */
export async function readRecipient(
	solana: SolanaChain | undefined,
	{ destinationChainId, outputToken, recipient }: Order,
): Promise<KnownRecipient> {
	if (!isSolana(destinationChainId)) return { hasAccount: true, payProblem: undefined };
	return readSolanaWallet(servedSolana(solana, outputToken), {
		wallet: fromSolanaWord(recipient),
		token: addressOfWord(destinationChainId, outputToken),
	});
}
