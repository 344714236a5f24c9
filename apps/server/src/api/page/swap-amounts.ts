import { addressOfWord, type Order } from "@geoswap/protocol";
import { zeroHash } from "viem";
import type { ChainNames } from "../../config/chain-names.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { decimal } from "./format.ts";

/** A swap's amounts in a readable form. */
export type SwapAmounts = {
	origin: string;
	destination: string;
	input: string;
	/** The delivered amount, or the quoted one if nothing was delivered. */
	output: string;
	quotedOutput: string;
	minOutput: string;
	/** The native token for gas, if the order has a top-up. */
	topUp: string | undefined;
};

export function swapAmounts(
	{ order, output, deliveredAmount }: Pick<SwapRecord, "order" | "output" | "deliveredAmount">,
	chainNames: ChainNames,
	{ decimals = 6 }: { decimals?: number } = {},
): SwapAmounts {
	const { originChainId, destinationChainId } = order;
	return {
		origin: chainNames.name(Number(originChainId)),
		destination: chainNames.name(Number(destinationChainId)),
		input: shown(originChainId, order.inputToken, order.inputAmount),
		output: shown(destinationChainId, order.outputToken, deliveredAmount ?? output),
		quotedOutput: shown(destinationChainId, order.outputToken, output),
		minOutput: shown(destinationChainId, order.outputToken, order.minOutput),
		topUp: order.topUp > 0n ? shown(destinationChainId, zeroHash, order.topUp) : undefined,
	};

	function shown(chainId: bigint, word: Order["inputToken"], units: bigint): string {
		const { amount, symbol } = chainNames.tokens(Number(chainId), addressOfWord(chainId, word), units);
		return `${decimal(amount, decimals)} ${symbol}`;
	}
}
