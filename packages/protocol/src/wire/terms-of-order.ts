import type { Hex } from "viem";
import { addressOfWord, formatAddress } from "../chain-address.ts";
import type { Order } from "../order.ts";

/** The terms of an order under the field names of the quote. */
export type OrderTermsJson = {
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	amount: string;
	walletAddress: string;
	recipient: string;
	minOutput: string;
	topUp?: string;
};

/** Returns the terms that the order fixes, with addresses as their chains write them. */
export function termsOfOrder(order: Order): OrderTermsJson {
	const { originChainId, destinationChainId } = order;
	const addressOn = (chainId: bigint, word: Hex) => formatAddress(chainId, addressOfWord(chainId, word));
	return {
		originChain: Number(originChainId),
		destinationChain: Number(destinationChainId),
		inputToken: addressOn(originChainId, order.inputToken),
		outputToken: addressOn(destinationChainId, order.outputToken),
		amount: String(order.inputAmount),
		walletAddress: addressOn(originChainId, order.wallet),
		recipient: addressOn(destinationChainId, order.recipient),
		minOutput: String(order.minOutput),
		...(order.topUp > 0n && { topUp: String(order.topUp) }),
	};
}
