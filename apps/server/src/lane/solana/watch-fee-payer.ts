import { solanaNativeToken, toSolanaWord, type Wei } from "@geoswap/protocol";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { SolanaLane } from "./solana-lane.ts";

/**
 * 0.1 SOL. The rent of an order is 0.0046 SOL and comes back after some minutes, so this is enough for twenty open
 * orders.
 */
const enoughLamports = 100_000_000n;
const logEveryMs = 60_000;

export type FeePayerFunds = {
	/** The fee payer's balance. `Wei` is the smallest unit of a chain's native token, on Solana the lamport. */
	lamports: Wei;
	/** True if the balance is below 0.1 SOL. */
	isPoor: boolean;
};

/** Returns a function that reads the fee payer's balance. If it is low, an error is logged, at most once a minute. */
export function watchFeePayer({ chain, feePayer, id, nowMs, log }: SolanaLane): () => Promise<FeePayerFunds> {
	let loggedAtMs = Number.NEGATIVE_INFINITY;
	return async () => {
		const { lamports } = await readSolanaWallet(chain, {
			wallet: feePayer.address,
			token: toSolanaWord(solanaNativeToken),
		});
		if (lamports >= enoughLamports) return { lamports, isPoor: false };
		if (nowMs() - loggedAtMs >= logEveryMs) {
			loggedAtMs = nowMs();
			log.error({ ...id, feePayer: feePayer.address, lamports }, "the fee payer is low on SOL; send it more");
		}
		return { lamports, isPoor: true };
	};
}
