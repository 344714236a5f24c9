import { fromSolanaWord, type Milliseconds, parseAddress, type QuoteRequest } from "@geoswap/protocol";
import type { Hex } from "viem";
import { createBoundedReadings } from "../../chain/bounded-readings.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { isListed } from "../../chain/solana/is-listed.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { KnownRecipient } from "../../desk/venue.ts";
import type { Log } from "../../telemetry/log.ts";

/** Recipients on Solana that are known from memory or can be read within a moment: see `BoundedReadings`. */
export type RecipientAccounts = {
	/**
	 * Returns undefined if nothing is known that improves or refuses the quote, or if the output is not on Solana. Never
	 * rejects, whatever the request names.
	 */
	recipientOf: (
		request: Pick<QuoteRequest, "destinationChain" | "outputToken" | "recipient" | "walletAddress">,
		asked: { accountId: string },
	) => Promise<KnownRecipient | undefined>;
};

/** A submit reads the account again, so a stale value affects a quote and nothing else. */
const cacheSeconds = 30;
const timeoutMs = 2_000;

export function createRecipientAccounts({
	solana,
	nowMs,
	log,
}: {
	solana: SolanaChain;
	nowMs: () => Milliseconds;
	log: Log;
}): RecipientAccounts {
	const { chainId, deployment } = solana;
	const readings = createBoundedReadings<`${Hex} ${Hex}`, KnownRecipient>({
		cacheSeconds,
		timeoutMs,
		nowMs,
		onError: (err) => log.warn({ chainId, err }, "a recipient's token account could not be read"),
		read: async (key, signal) => {
			const [wallet, token] = key.split(" ") as [Hex, Hex];
			const { hasAccount, payProblem } = await readSolanaWallet(solana, {
				wallet: fromSolanaWord(wallet),
				token,
				signal,
			});
			return hasAccount || payProblem ? { hasAccount, payProblem } : undefined;
		},
	});
	return {
		recipientOf: async ({ destinationChain, outputToken, recipient, walletAddress }, asked) => {
			if (destinationChain !== chainId) return undefined;
			const token = parseAddress(chainId, outputToken);
			const wallet = parseAddress(chainId, recipient ?? walletAddress);
			if (!token || !wallet || !isListed(deployment, token)) return undefined;
			return readings.valueOf(`${wallet} ${token}`, asked);
		},
	};
}
