import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

export type RecentBlockhash = {
	blockhash: string;
	/** The last height at which a transaction with it can land. */
	lastValidBlockHeight: bigint;
};

export async function readBlockhash({ chainId, rpc }: SolanaChain): Promise<RecentBlockhash> {
	const { value } = await requestChain(chainId, rpc.getLatestBlockhash({ commitment: "confirmed" }).send());
	return { blockhash: value.blockhash, lastValidBlockHeight: value.lastValidBlockHeight };
}
