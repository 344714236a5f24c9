import { addressOfWord, type Order, toChainId } from "@geoswap/protocol";
import { usdCentsUp } from "./describe-quote.ts";
import type { DeskChain } from "./desk-chain.ts";
import { refundCostE18 } from "./network-cost.ts";
import type { PriceBook } from "./price/price-book.ts";
import { usdValueDown, usdValueUp } from "./price/usd-value.ts";

/** An input below so many times what giving it back costs is not worth that to its wallet, nor to us. */
const leastCosts = 10n;

export type RefundWorth = {
	/** The input's value, rounded up: depths go by it. */
	valueUsdCents: bigint;
	/** Whether that is more than ten times what it takes to give it back. */
	isWorth: boolean;
};

/** What an order from an EVM chain is worth. Undefined while its input or the fees have no price. */
export function refundWorth(
	order: Order,
	{ chains, book, nowMs }: { chains: ReadonlyMap<number, DeskChain>; book: PriceBook; nowMs: number },
): RefundWorth | undefined {
	const origin = chains.get(toChainId(order.originChainId));
	const destination = chains.get(toChainId(order.destinationChainId));
	if (origin?.kind !== "evm" || !destination) return undefined;
	const asset = addressOfWord(order.originChainId, order.inputToken);
	// Where time closes the order on the destination, nothing is paid for there.
	const payingChains = destination.kind === "solana" ? [origin, destination] : [origin];
	const isPriced =
		book.isReferenceLive({ chainId: origin.chainId, asset }, { nowMs }) &&
		payingChains.every(({ chainId, native }) =>
			book.isReferenceLive({ chainId, asset: native.address }, { nowMs }),
		);
	if (!isPriced) return undefined;
	const input = book.reference({ chainId: origin.chainId, asset });
	const cost = refundCostE18(book, { origin, destination });
	return {
		valueUsdCents: usdCentsUp(usdValueUp(order.inputAmount, input)),
		isWorth: usdValueDown(order.inputAmount, input) > leastCosts * cost,
	};
}
