import { addressOfWord, type Milliseconds, type Order, toChainId, type UsdCents } from "@geoswap/protocol";
import type { DeskChain } from "./desk-chain.ts";
import { refundCostE18 } from "./network-cost.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { usdValueDown, usdValueUp } from "./price/usd-value.ts";
import { usdCentsUp } from "./sealed-quote.ts";

/**
 * An input worth less than this many times its refund cost is not worth refunding, to its wallet or to the service.
 */
const minCosts = 10n;
const microUsdE18 = 10n ** 12n;

export type RefundWorth = {
	/** The input's value, rounded up. It determines the confirmation depth. */
	valueUsdCents: UsdCents;
	/** True if the value is more than ten times the cost of the refund. */
	isWorth: boolean;
	/** The maximum cost of the refund, in millionths of a dollar, rounded up. */
	costMicroUsd: bigint;
};

/** Returns the worth of an order's refund. Undefined while its input or the fees have no price. */
export function refundWorth(
	order: Order,
	{
		chains,
		priceCache,
		nowMs,
	}: { chains: ReadonlyMap<number, DeskChain>; priceCache: PriceCache; nowMs: Milliseconds },
): RefundWorth | undefined {
	const origin = chains.get(toChainId(order.originChainId));
	if (!origin || !chains.has(toChainId(order.destinationChainId))) return undefined;
	const asset = addressOfWord(order.originChainId, order.inputToken);
	const { chainId, native } = origin;
	// The order expires by time on the destination, so that no transaction is needed there.
	const isPriced = [asset, native.address].every((one) =>
		priceCache.isReferenceLive({ chainId, asset: one }, { nowMs }),
	);
	if (!isPriced) return undefined;
	const input = priceCache.reference({ chainId, asset });
	const isNative = BigInt(order.inputToken) === 0n;
	const cost = refundCostE18(priceCache, { origin, isNative });
	return {
		valueUsdCents: usdCentsUp(usdValueUp(order.inputAmount, input)),
		isWorth: usdValueDown(order.inputAmount, input) > minCosts * cost,
		costMicroUsd: cost / microUsdE18 + 1n,
	};
}
