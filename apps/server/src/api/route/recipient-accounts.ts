import { fromSolanaWord, type Milliseconds, parseAddress, type QuoteRequest } from "@geoswap/protocol";
import { type Address, type Hex, zeroAddress } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readNativeRecipient } from "../../chain/evm/wallet/read-wallet.ts";
import { createReadThroughCache } from "../../chain/read-through-cache.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { isListed } from "../../chain/solana/read/read-listed.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { KnownRecipient } from "../../desk/desk.ts";
import type { Log } from "../../telemetry/log.ts";

/**
 * Recipients on Solana, and of the native token on EVM chains, as the output or as a top-up, that are cached or can be
 * read within a moment. See `BoundedReadings`.
 */
export type RecipientAccounts = {
	/**
	 * Returns undefined if nothing is known that improves or refuses the quote, or if the recipient gets only another
	 * token of an EVM chain. Never rejects, for any request.
	 */
	recipientOf: (
		request: Pick<
			QuoteRequest,
			"destinationChain" | "outputToken" | "recipient" | "walletAddress" | "topUp" | "topUpUsd"
		>,
		asked: { accountId: string },
	) => Promise<KnownRecipient | undefined>;
};

/**
 * A submit reads the account on Solana again, so a stale value affects a quote and nothing else. On an EVM chain the
 * quote's value is final. See `NativeRecipient`.
 */
const cacheSeconds = 30;
const timeoutMs = 2_000;

type Deps = { nowMs: () => Milliseconds; log: Log };

export function createRecipientAccounts({
	solana,
	chains,
	...deps
}: Deps & {
	/** Absent if Solana is not offered. */
	solana: SolanaChain | undefined;
	chains: ReadonlyMap<number, EvmChain>;
}): RecipientAccounts {
	// Each chain has separate readings, so that a chain that does not answer delays no other.
	const recipients = new Map([...chains].map(([chainId, chain]) => [chainId, onEvm(chain, deps)]));
	if (solana) recipients.set(solana.chainId, onSolana(solana, deps));
	return {
		recipientOf: async (request, asked) =>
			recipients.get(request.destinationChain)?.recipientOf(request, asked),
	};
}

function onEvm(chain: EvmChain, { nowMs, log }: Deps): RecipientAccounts {
	const { chainId } = chain;
	const readings = createReadThroughCache<Address, KnownRecipient>({
		cacheSeconds,
		timeoutMs,
		nowMs,
		onError: (err) => log.warn({ chainId, err }, "a recipient's account could not be read"),
		read: async (address, signal) => ({
			hasAccount: true,
			payProblem: undefined,
			native: await readNativeRecipient(chain, { address, signal }),
		}),
	});
	return {
		recipientOf: async ({ outputToken, recipient, walletAddress, topUp, topUpUsd }, asked) => {
			const isToppedUp = topUp !== undefined || topUpUsd !== undefined;
			if (!isToppedUp && parseAddress(chainId, outputToken) !== zeroAddress) return undefined;
			const address = parseAddress(chainId, recipient ?? walletAddress);
			return address && readings.valueOf(address, asked);
		},
	};
}

function onSolana(solana: SolanaChain, { nowMs, log }: Deps): RecipientAccounts {
	const { chainId, deployment } = solana;
	const readings = createReadThroughCache<`${Hex} ${Hex}`, KnownRecipient>({
		cacheSeconds,
		timeoutMs,
		nowMs,
		onError: (err) => log.warn({ chainId, err }, "a recipient's token account could not be read"),
		read: async (key, signal) => {
			const [wallet, token] = key.split(" ") as [Hex, Hex];
			const { hasAccount, payProblem, topUpProblem } = await readSolanaWallet(solana, {
				wallet: fromSolanaWord(wallet),
				token,
				signal,
			});
			const isKnown = hasAccount || payProblem !== undefined || topUpProblem !== undefined;
			return isKnown ? { hasAccount, payProblem, topUpProblem } : undefined;
		},
	});
	return {
		recipientOf: async ({ outputToken, recipient, walletAddress }, asked) => {
			const token = parseAddress(chainId, outputToken);
			const wallet = parseAddress(chainId, recipient ?? walletAddress);
			if (!token || !wallet || !isListed(deployment, token)) return undefined;
			return readings.valueOf(`${wallet} ${token}`, asked);
		},
	};
}
