import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

/** Reads the block height, by which transactions expire. */
export function readHeight(
	{ chainId, rpc }: SolanaChain,
	commitment: "confirmed" | "finalized" = "confirmed",
): Promise<bigint> {
	return requestChain(chainId, rpc.getBlockHeight({ commitment }).send());
}
