import type { SolanaAddress } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { findListedTransaction } from "./find-listed-transaction.ts";

/** Returns the final transaction that took the last lamport from an address, if it is one of the newest that name it. */
export async function findCloseTransaction(
	chain: SolanaChain,
	address: SolanaAddress,
): Promise<Hex | undefined> {
	const { hash } = await findListedTransaction(chain, {
		address,
		commitment: "finalized",
		before: undefined,
		isSought: ({ lamports }) => {
			const change = lamports.get(address);
			return change !== undefined && change.before > 0n && change.after === 0n;
		},
	});
	return hash;
}
