import { SwapError } from "@geoswap/protocol";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";

/** Solana, where it is offered. It was when the quote was issued. */
export function servedSolana(solana: SolanaChain | undefined): SolanaChain {
	if (!solana) throw new SwapError("NO_ROUTE", { reason: "chain" });
	return solana;
}
