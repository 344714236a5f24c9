import { type Order, packDeadlines, toWord } from "@geoswap/protocol";
import { zeroHash } from "viem";

const word = toWord(`0x${"a1".repeat(20)}`);

/** Returns an order whose terms do not matter, except for the given ones. Every address in it is the same. */
export function plainOrder(terms: Pick<Order, "swapKey"> & Partial<Order>): Order {
	return {
		originChainId: 31337n,
		destinationChainId: 31338n,
		escrow: word,
		originVault: word,
		destinationVault: word,
		attesterSet: zeroHash,
		wallet: word,
		inputToken: word,
		inputAmount: 10n,
		outputToken: word,
		minOutput: 5n,
		recipient: word,
		topUp: 0n,
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
		...terms,
	};
}
