import { addressOfWord, type Order } from "@geoswap/protocol";
import type { ChainBook } from "../../config/chain-book.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { decimal } from "./format.ts";

/** A swap's amounts as people read them. */
export type SwapAmounts = {
	origin: string;
	destination: string;
	input: string;
	/** The delivered amount, or the quoted one if nothing was delivered. */
	output: string;
	quotedOutput: string;
	minOutput: string;
};

export function swapAmounts(
	{ order, output, deliveredAmount }: Pick<SwapRecord, "order" | "output" | "deliveredAmount">,
	book: ChainBook,
	{ decimals = 6 }: { decimals?: number } = {},
): SwapAmounts {
	const { originChainId, destinationChainId } = order;
	return {
		origin: book.name(Number(originChainId)),
		destination: book.name(Number(destinationChainId)),
		input: shown(originChainId, order.inputToken, order.inputAmount),
		output: shown(destinationChainId, order.outputToken, deliveredAmount ?? output),
		quotedOutput: shown(destinationChainId, order.outputToken, output),
		minOutput: shown(destinationChainId, order.outputToken, order.minOutput),
	};

	function shown(chainId: bigint, word: Order["inputToken"], units: bigint): string {
		const { amount, symbol } = book.tokens(Number(chainId), addressOfWord(chainId, word), units);
		return `${decimal(amount, decimals)} ${symbol}`;
	}
}
