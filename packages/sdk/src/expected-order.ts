import type { Deployment, QuoteRequestBody } from "@geoswap/protocol";
import {
	fromSwapId,
	isSolana,
	mulDivDown,
	type Order,
	packDeadlines,
	parseAddress,
	toSolanaWord,
	toSwapKey,
	toWord,
	unpackDeadlines,
	wordOfAddress,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { at, bounded, isSame, maxUint256, natural, refuse } from "./expect-same.ts";
import type { Quote } from "./get-quote.ts";
import { pinnedChain } from "./pinned-chain.ts";
import { pinnedSolana } from "./pinned-solana.ts";
import { stableFloor } from "./stable-floor.ts";
import { VerificationError } from "./verification-error.ts";

export type Terms = {
	/** The caller's request. */
	intent: QuoteRequestBody;
	quote: Quote;
	/** The deployment. Take it from a file that you trust, not from the service. */
	pins: Deployment;
	limits?: {
		/**
		 * The minimum output that the caller will sign for, regardless of the quote. By default, it is 97 % of the input
		 * between two stables.
		 */
		minOutput?: bigint;
		/** The maximum input that the caller will sign for. Required if the intent has an `outputAmount`. */
		maxInput?: bigint;
		nowMs?: number;
	};
};

const maxDefaultSlippageBps = 300;
export const maxSecondsToOpen = 15n * 60n;
/** The limit that the escrow enforces. */
const maxSecondsToRefund = 3n * 24n * 60n * 60n;

type OfWallet = Terms & { wallet: string; origin: Quote["origin"] };

/** Returns the order that follows from the caller's request, the quote and the pins, with the build's deadlines. */
export function expectedOrder({ build, ...terms }: OfWallet & { build: unknown }): Order {
	return {
		...expectedTerms(terms),
		deadlines: expectedDeadlines(build, terms.limits?.nowMs ?? Date.now()),
	};
}

/** Returns the part of the order that is known before the build. */
export function expectedTerms({
	intent,
	quote,
	pins,
	wallet,
	origin: originKind,
	limits = {},
}: OfWallet): Omit<Order, "deadlines"> {
	const originChainId = Number(intent.originChain);
	const destinationChainId = Number(intent.destinationChain);
	const origin = pinnedWords(pins, { field: "intent.originChain", chainId: originChainId });
	const destination = pinnedWords(pins, { field: "intent.destinationChain", chainId: destinationChainId });
	const recipient = intent.recipient ?? intent.walletAddress;
	if (!isSame(wallet, intent.walletAddress)) refuse("intent.walletAddress", wallet, intent.walletAddress);
	if (quote.origin !== originKind) refuse("quote.origin", originKind, quote.origin);
	if (!isSame(recipient, quote.recipient)) refuse("quote.recipient", recipient, quote.recipient);
	const inputAmount = expectedInput({ intent, quote, limits });
	const uuid = fromSwapId(quote.swapId);
	if (uuid === undefined) refuse("quote.swapId", "a swap's id", quote.swapId);
	return {
		wallet: wordOf("intent.walletAddress", originChainId, wallet),
		inputToken: wordOf("intent.inputToken", originChainId, intent.inputToken),
		inputAmount,
		originChainId: BigInt(originChainId),
		destinationChainId: BigInt(destinationChainId),
		outputToken: wordOf("intent.outputToken", destinationChainId, intent.outputToken),
		minOutput: expectedMinimum({ intent, quote, pins, limits, inputAmount }),
		recipient: wordOf("intent.recipient", destinationChainId, recipient),
		topUp: expectedTopUp({ intent, quote }),
		escrow: origin.escrow,
		originVault: origin.vault,
		destinationVault: destination.vault,
		attesterSet: origin.attesterSet,
		swapKey: toSwapKey(uuid),
	};
}

/** Returns a chain's part of an order. */
function pinnedWords(
	pins: Deployment,
	place: { field: string; chainId: number },
): { escrow: Hex; vault: Hex; attesterSet: Hex } {
	if (isSolana(place.chainId)) {
		const { address, vault, attesterSet } = pinnedSolana(pins, place).program;
		return { escrow: toSolanaWord(address), vault: toSolanaWord(vault), attesterSet: attesterSet.hash };
	}
	const { contracts, attesterSet } = pinnedChain(pins, place);
	return {
		escrow: toWord(contracts.escrow),
		vault: toWord(contracts.vault),
		attesterSet: attesterSet.hash,
	};
}

/** Returns the quoted input. Throws unless it is the requested one or, for an exact output, within the caller's limit. */
function expectedInput({ intent, quote, limits }: Omit<Required<Terms>, "pins">): bigint {
	const amount = natural("quote.amount", quote.amount);
	if (intent.amount === undefined) {
		const { maxInput = refuse("limits.maxInput", "a maximum for an exact output", undefined) } = limits;
		return bounded("quote.amount", amount, maxInput);
	}
	const asked = natural("intent.amount", String(intent.amount));
	if (amount !== asked) refuse("quote.amount", asked, amount);
	return asked;
}

/**
 * Returns the top-up of the order. Throws unless the quote has the requested one. A value in USD is converted by the
 * service, so the wallet may lose that value at most.
 */
function expectedTopUp({ intent, quote }: Pick<Terms, "intent" | "quote">): bigint {
	if (intent.topUp === undefined && intent.topUpUsd === undefined) return 0n;
	const quoted = bounded("quote.topUp", quote.topUp, maxUint256);
	if (intent.topUp === undefined) return quoted;
	const asked = natural("intent.topUp", String(intent.topUp));
	if (quoted !== asked) refuse("quote.topUp", asked, quoted);
	return asked;
}

/** Returns the quoted minimum. Throws unless slippage explains it and the caller accepts it. */
function expectedMinimum({
	intent,
	quote,
	pins,
	limits,
	inputAmount,
}: Required<Terms> & { inputAmount: bigint }): bigint {
	const { slippageBps } = quote;
	const isDefault = intent.slippageBps === undefined;
	const isExpected = isDefault
		? Number.isInteger(slippageBps) && slippageBps >= 1 && slippageBps <= maxDefaultSlippageBps
		: slippageBps === intent.slippageBps;
	if (!isExpected) {
		refuse(
			"quote.slippageBps",
			isDefault ? `1 to ${maxDefaultSlippageBps}` : intent.slippageBps,
			slippageBps,
		);
	}
	const output = natural("quote.output", quote.output);
	const minOutput = natural("quote.minOutput", quote.minOutput);
	const minBySlippage = mulDivDown(output, 10_000n - BigInt(slippageBps), 10_000n);
	const requested = natural("intent.outputAmount", String(intent.outputAmount ?? 0));
	// The caller has bounded the price of an exact output by its maximum input.
	const floor = requested > 0n ? undefined : stableFloor(pins, { ...intent, amount: inputAmount });
	const accepted = limits.minOutput ?? floor ?? 0n;
	const least = [1n, minBySlippage, accepted, requested].reduce((a, b) => (a > b ? a : b));
	if (minOutput < least) refuse("quote.minOutput", `at least ${least}`, minOutput);
	if (minOutput > output) refuse("quote.minOutput", `at most the output, ${output}`, minOutput);
	return minOutput;
}

/** Checks and returns the build's deadlines. The order must open soon, and be refundable within the escrow's limit. */
function expectedDeadlines(build: unknown, nowMs: number): bigint {
	const field = "geoOp.order.deadlines";
	const word = natural(field, at(build, field));
	const now = BigInt(Math.floor(nowMs / 1000));
	try {
		const deadlines = unpackDeadlines(word);
		const { openDeadline, refundAfter } = deadlines;
		if (openDeadline <= now || openDeadline > now + maxSecondsToOpen) {
			refuse(`${field} (openDeadline)`, `after ${now}, at most ${now + maxSecondsToOpen}`, openDeadline);
		}
		if (refundAfter > openDeadline + maxSecondsToRefund) {
			refuse(`${field} (refundAfter)`, `at most ${openDeadline + maxSecondsToRefund}`, refundAfter);
		}
		return packDeadlines(deadlines);
	} catch (error) {
		if (error instanceof VerificationError) throw error;
		return refuse(field, "three ascending times", (error as Error).message);
	}
}

function wordOf(field: string, chainId: number, text: string): Hex {
	const address = parseAddress(chainId, isSolana(chainId) ? text : text.toLowerCase());
	if (address === undefined) refuse(field, isSolana(chainId) ? "a Solana address" : "an EVM address", text);
	return wordOfAddress(chainId, address);
}
