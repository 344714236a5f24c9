import { SwapError } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { isListed } from "../../chain/solana/read/read-listed.ts";

/** Returns Solana. Throws if it is not offered with that token, as it was when the quote was issued. */
export function servedSolana(solana: SolanaChain | undefined, token: Hex): SolanaChain {
	if (!solana) throw new SwapError("NO_ROUTE", { reason: "chain" });
	if (!isListed(solana.deployment, token)) throw new SwapError("NO_ROUTE", { reason: "token" });
	return solana;
}
