import {
	addressOfWord,
	type Deployment,
	formatAddress,
	isSolana,
	type StatusResponse,
	unpackDeadlines,
} from "@geoswap/protocol";
import { formatUnits, type Hex, zeroHash } from "viem";
import { swapAnswer } from "../../api/status/swap-answer.ts";
import type { Config } from "../../config/config.ts";
import { createExplorerPages } from "../../config/explorer-pages.ts";
import { finalitySecondsOf } from "../../config/finality-seconds.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";

export type ViewConfig = Pick<Config, "chains" | "deployment">;

/** A swap for an operator: what its account gets, and the agreed terms. Amounts are in smallest units. */
export type SwapView = Omit<StatusResponse, "terms" | "endedAt"> & {
	uuid: string;
	accountId: string | null;
	/** When nothing was left to do. */
	endedAt: string | null;
	/** Why the output will not be delivered. */
	givingUp: string | null;
	terms: SwapTerms;
};

type SwapTerms = {
	input: Amount;
	wallet: string;
	/** As quoted. */
	output: Amount;
	minOutput: Amount;
	/** The native token that the recipient gets for its gas. */
	topUp: Amount | null;
	recipient: string;
	valueUsd: string;
	feeBps: number;
	openDeadline: string;
	fillDeadline: string;
	refundAfter: string;
};

type AmountOfToken = { chainId: number; token: string; amount: string };

/** `shown` is the amount in a readable form, in whole tokens if the deployment lists the token. */
type Amount = { chainId: number; token: string; amount: string; shown: string };

export function viewSwap(swap: SwapRecord, config: ViewConfig): SwapView {
	const { order } = swap;
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const addressOn = (chainId: bigint, word: Hex) => formatAddress(chainId, addressOfWord(chainId, word));
	const amountOn = (chainId: bigint, word: Hex, amount: bigint): Amount => {
		const token = addressOn(chainId, word);
		return {
			chainId: Number(chainId),
			token,
			amount: String(amount),
			shown: showAmount(config.deployment, { chainId: Number(chainId), token, amount: String(amount) }),
		};
	};
	const output = (amount: bigint) => amountOn(order.destinationChainId, order.outputToken, amount);
	return {
		...swapAnswer(swap, {
			finalitySeconds: finalitySecondsOf(config),
			explorers: createExplorerPages(config),
		}),
		uuid: swap.id,
		accountId: swap.accountId ?? null,
		endedAt: swap.endedAt?.toISOString() ?? null,
		givingUp: swap.givingUp ?? null,
		terms: {
			input: amountOn(order.originChainId, order.inputToken, order.inputAmount),
			wallet: addressOn(order.originChainId, order.wallet),
			output: output(swap.output),
			minOutput: output(order.minOutput),
			// The native token has the same word on every chain.
			topUp: order.topUp > 0n ? amountOn(order.destinationChainId, zeroHash, order.topUp) : null,
			recipient: addressOn(order.destinationChainId, order.recipient),
			valueUsd: formatUnits(swap.valueUsdCents, 2),
			feeBps: swap.feeMillibps / 1_000,
			openDeadline: isoTime(openDeadline),
			fillDeadline: isoTime(fillDeadline),
			refundAfter: isoTime(refundAfter),
		},
	};
}

/** Formats an amount in whole tokens, with its symbol and chain, or in smallest units if the token is not listed. */
export function showAmount(deployment: Deployment, amount: AmountOfToken): string {
	return `${showTokens(deployment, amount)} on chain ${amount.chainId}`;
}

/** The same without the chain. */
export function showTokens(
	{ chains, solana }: Deployment,
	{ chainId, token, amount }: AmountOfToken,
): string {
	const assets: readonly { address: string; symbol: string; decimals: number }[] =
		(isSolana(chainId) ? solana?.assets : chains.find((chain) => chain.chainId === chainId)?.assets) ?? [];
	const asset = assets.find(({ address }) => address === token);
	return asset
		? `${formatUnits(BigInt(amount), asset.decimals)} ${asset.symbol}`
		: `${amount} units of ${token}`;
}

/** Formats a time in Unix seconds. Anyone can create an order whose deadline is not a valid time. */
function isoTime(seconds: number | bigint): string {
	const time = new Date(Number(seconds) * 1_000);
	return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString();
}
