import type { ChainDeployment, Deployment } from "@geoswap/protocol";
import {
	type EndedSwap,
	GeoswapError,
	getQuote,
	getSwapState,
	createClient as sdkClient,
	swap,
} from "@geoswap/sdk";
import { fileStore } from "@geoswap/sdk/file-store";
import { type Address, type Hex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ConfigError } from "../../../config/config-error.ts";

/** One end of the canary's route. */
export type CanaryEnd = { chainId: number; token: Address; symbol: string; decimals: number };
export type CanaryLeg = { from: CanaryEnd; to: CanaryEnd; swap: EndedSwap; wasDone: boolean };

/** Multiples of the service's minimum to try until the way back is above the minimum too. */
const multiplesPercent = [125n, 200n, 400n, 800n] as const;

/**
 * Returns where the canary starts and turns. It comes from another chain if there is one, otherwise it swaps the
 * chain's own settlement token for the native token.
 */
export function canaryEnds(
	chain: ChainDeployment,
	others: readonly ChainDeployment[],
): { start: CanaryEnd; end: CanaryEnd } {
	const [other] = others;
	if (other) return { start: endAt(other, other.settlementToken), end: endAt(chain, chain.settlementToken) };
	return { start: endAt(chain, chain.settlementToken), end: endAt(chain, zeroAddress) };
}

function endAt({ chainId, name, assets }: ChainDeployment, token: Address): CanaryEnd {
	const found = assets.find(({ address }) => address === token);
	if (!found) throw new Error(`${name} does not offer the token ${token}`);
	return { chainId, token, symbol: found.symbol, decimals: found.decimals };
}

/**
 * Swaps about a dollar to the chain and back, like any caller. What was signed is kept in `folder`, so that another
 * run continues and swaps nothing twice.
 */
export async function runCanary({
	apiUrl,
	apiKey,
	walletKey,
	pins,
	start,
	end,
	minimumUsd,
	folder,
	onProgress,
}: {
	apiUrl: string;
	apiKey: string;
	walletKey: Hex;
	pins: Deployment;
	start: CanaryEnd;
	end: CanaryEnd;
	minimumUsd: number;
	folder: string;
	onProgress: (line: string) => void;
}): Promise<[CanaryLeg, CanaryLeg]> {
	const client = sdkClient({ baseUrl: apiUrl, apiKey });
	const signer = privateKeyToAccount(walletKey);
	const store = fileStore(folder);
	const amountKey = "amount";
	const amount = BigInt((await store.get(amountKey)) ?? (await findAmount()));
	await store.set(amountKey, String(amount));
	const there = await leg("there", start, end, amount);
	const back = await leg("back", end, start, BigInt(there.swap.funds.amount));
	return [there, back];

	async function leg(id: string, from: CanaryEnd, to: CanaryEnd, amount: bigint): Promise<CanaryLeg> {
		const wasDone = (await getSwapState(store, id)).state === "ended";
		const ended = await swap(client, {
			id,
			store,
			originChain: from.chainId,
			destinationChain: to.chainId,
			inputToken: from.token,
			outputToken: to.token,
			amount,
			signer,
			pins,
			// Fees are a large part of such a small amount. At most the amount can be lost.
			minOutput: 1n,
			onProgress: ({ step }) => {
				if (step !== "status") onProgress(`${id}: ${step}`);
			},
		});
		if (ended.status !== "settled") {
			const why = ended.failure?.message ?? "no reason was given";
			throw new ConfigError(
				"canary",
				`the swap ${ended.swapId} is ${ended.status}: ${why}. Find out why (geoswapd swaps explain), then remove ${folder} and run again`,
			);
		}
		return { from, to, swap: ended, wasDone };
	}

	/** Returns the smallest tried amount that is quoted both ways. */
	async function findAmount(): Promise<bigint> {
		const minimum = await minAmount();
		let last: unknown;
		for (const percent of multiplesPercent) {
			const amount = (minimum * percent) / 100n;
			try {
				const there = await ask(start, end, amount);
				await ask(end, start, BigInt(there.output));
				return amount;
			} catch (error) {
				if (!(error instanceof GeoswapError) || error.code !== "NEEDS_LARGER_SIZE") throw error;
				last = error;
			}
		}
		throw last;
	}

	/** Returns the service's minimum in the token, which the service returns in an error. */
	async function minAmount(): Promise<bigint> {
		try {
			await ask(start, end, 1n);
		} catch (error) {
			const { minimumAmount } = ((error as GeoswapError).details ?? {}) as { minimumAmount?: string };
			if (minimumAmount !== undefined) return BigInt(minimumAmount);
			throw error;
		}
		return (BigInt(Math.ceil(minimumUsd * 100)) * 10n ** BigInt(start.decimals)) / 100n;
	}

	function ask(from: CanaryEnd, to: CanaryEnd, amount: bigint) {
		return getQuote(client, {
			originChain: from.chainId,
			destinationChain: to.chainId,
			inputToken: from.token,
			outputToken: to.token,
			amount: String(amount),
			walletAddress: signer.address,
		});
	}
}
