import { solanaNativeToken, toSolanaWord, type Wei } from "@geoswap/protocol";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { SolanaLane } from "./solana-lane.ts";

/** Enough for some fifty transactions that make a marker each. */
const enoughLamports = 100_000_000n;
const remindAfterMs = 60_000;

export type FeePayerFunds = { lamports: Wei; isPoor: boolean };

/** Returns a function that reads the fee payer's lamports, and tells the operator once a minute if it needs more. */
export function watchFeePayer({ chain, feePayer, id, nowMs, log }: SolanaLane): () => Promise<FeePayerFunds> {
	let toldAtMs = Number.NEGATIVE_INFINITY;
	return async () => {
		const { lamports } = await readSolanaWallet(chain, {
			wallet: feePayer.address,
			token: toSolanaWord(solanaNativeToken),
		});
		if (lamports >= enoughLamports) return { lamports, isPoor: false };
		if (nowMs() - toldAtMs >= remindAfterMs) {
			toldAtMs = nowMs();
			log.error(
				{ ...id, feePayer: feePayer.address, lamports },
				"the fee payer runs out of SOL: send it more",
			);
		}
		return { lamports, isPoor: true };
	};
}
