import { askChain } from "../../ask-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

/** How many blocks there are: by them a transaction dies. */
export function readHeight(
	{ chainId, rpc }: SolanaChain,
	commitment: "confirmed" | "finalized" = "confirmed",
): Promise<bigint> {
	return askChain(chainId, rpc.getBlockHeight({ commitment }).send());
}
