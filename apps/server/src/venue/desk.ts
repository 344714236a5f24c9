import {
	fromWord,
	mulDivDown,
	newSwapUuid,
	type Order,
	orderCalls,
	type QuoteRequest,
	SwapError,
	toChainId,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Address, zeroAddress } from "viem";
import type { ChainConfig, Config } from "../config.ts";
import { greater, lesser } from "../price/lesser.ts";
import type { PriceBook } from "../price/price-book.ts";
import { amountWorthDown, amountWorthUp, usdValueDown, usdValueUp } from "../price/usd-value.ts";
import type { ExposureLimit } from "../store/submit-swap.ts";
import { describeQuote, formatUsd, priceImpactBps, usdCentsUp } from "./describe-quote.ts";
import { deskOrder } from "./desk-order.ts";
import { isSettlement, nativeAsset } from "./network-cost.ts";
import { assetId, budgetOf, leastOutput, priceDelivery, priceSwap, type SwapPrice } from "./price-swap.ts";
import {
	noRoute,
	ownAddressesOf,
	type ResolvedRequest,
	resolveRequest,
	type Side,
} from "./resolve-request.ts";
import { greatestPassing, leastPassing } from "./size-limits.ts";
import type { Desk, DeskQuote, PricedOrder, Repriced } from "./venue.ts";

const quoteLifeMs = 30_000;
const opLifeMs = 90_000;
/** Before the open deadline: an op that is submitted later may not be mined in time. */
const inclusionMs = 30_000;

/** How far below the fresh price a fill through the router may end. */
const fillToleranceBps = 30n;
const bps = 10_000n;

export function createDesk({
	config,
	book,
	nowMs,
	random,
}: {
	config: Pick<Config, "chains" | "price" | "limits">;
	book: PriceBook;
	nowMs: () => number;
	random: (size: number) => Uint8Array;
}): Desk {
	const chains = new Map(config.chains.map((chain) => [chain.chainId, chain]));
	const ownAddresses = ownAddressesOf(config.chains);
	const defaultFeeCentibps = Math.round(config.price.feeBps * 100);
	// Its gas is paid in it: a chain without a price of it cannot be quoted.
	for (const chain of config.chains) nativeAsset(chain);

	return {
		quote,
		reprice,
		isPriceable,
		gasUsdCents,
		exposureLimit,
		volumes,
		freshMinimum,
		originCalls: orderCalls,
		outcome: "order-events",
	};

	function quote(
		request: QuoteRequest,
		{ feeCentibps = defaultFeeCentibps }: { feeCentibps?: number } = {},
	): DeskQuote {
		const issuedAtMs = nowMs();
		const resolved = resolveRequest(request, { chains, ownAddresses });
		const { origin, destination, amount, recipient, slippageBps } = resolved;
		if (!isLive(resolved, issuedAtMs)) {
			throw noRoute("paused", "Prices of this pair are not certain at the moment. Try again in a minute.");
		}
		const { delivery, output } = priceWithinLimits(resolved, feeCentibps);

		const uuid = newSwapUuid({ nowMs: issuedAtMs, random: random(10) });
		const order = deskOrder(resolved, { uuid, issuedAtMs, minOutput: leastOutput(output, slippageBps) });
		const inputE18 = usdValueDown(amount, book.reference(assetId(origin)));
		const outputE18 = usdValueDown(output, book.reference(assetId(destination)));
		const impactBps = priceImpactBps({ inputE18, outputE18 });
		const valueUsdCents = usdCentsUp(usdValueUp(amount, book.reference(assetId(origin))));
		const openDeadlineMs = Number(unpackDeadlines(order.deadlines).openDeadline) * 1_000;
		return {
			uuid,
			order,
			output,
			minOutput: order.minOutput,
			delivery,
			feeCentibps,
			feeBps: feeCentibps / 100,
			valueUsdCents,
			inputUsd: formatUsd(inputE18),
			outputUsd: formatUsd(outputE18),
			priceImpactBps: impactBps,
			warnings: warningsOf(impactBps),
			recipient,
			slippageBps,
			etaSeconds: Math.ceil(
				secondsToDepth(origin.chain, valueUsdCents) + secondsToDepth(destination.chain, valueUsdCents),
			),
			summary: describeQuote({ origin, destination, amount, output }),
			issuedAtMs,
			expiresAtMs: issuedAtMs + quoteLifeMs,
			opExpiresAtMs: Math.min(issuedAtMs + opLifeMs, openDeadlineMs - inclusionMs),
		};
	}

	function reprice(
		{ order, delivery, feeCentibps }: PricedOrder & { feeCentibps: number },
		inFlight: { sell: bigint; buy: bigint },
	): Repriced | undefined {
		const sides = sidesOf(order);
		if (!sides || !isLive(sides, nowMs())) return undefined;
		const now = price({ ...sides, amount: order.inputAmount }, { feeCentibps, inFlight });
		if (typeof now === "string") return undefined;
		const budget = lesser(budgetOf(delivery), budgetOf(now.delivery));
		const { destination } = sides;
		const repriced = priceDelivery(book, { destination, budget, inFlight: inFlight.buy });
		if (typeof repriced === "string" || repriced.output < order.minOutput) return undefined;
		return {
			...repriced,
			chainId: destination.chain.chainId,
			token: destination.chain.deployment.settlementToken,
			amount: budget,
			volumes: volumes({ order, delivery: repriced.delivery }),
		};
	}

	function volumes({ order, delivery }: PricedOrder): Repriced["volumes"] {
		const sides = sidesOf(order);
		if (!sides) return [];
		const { origin, destination } = sides;
		const isSold = !isSettlement(origin);
		return [
			...(isSold ? [{ ...pairOf(origin), direction: "sell" as const, amount: order.inputAmount }] : []),
			...(delivery.kind === "router"
				? boughtOn(destination).map((pair) => ({
						...pair,
						direction: "buy" as const,
						amount: delivery.budget,
					}))
				: []),
		];
	}

	function isPriceable(order: Order): boolean {
		const sides = sidesOf(order);
		return sides !== undefined && isLive(sides, nowMs());
	}

	function gasUsdCents({ chainId, wei }: { chainId: number; wei: bigint }): bigint {
		const chain = chains.get(chainId);
		if (!chain || book.ageMs(chainId, { nowMs: nowMs() }) === undefined) return 0n;
		const { usdE18 } = book.reference({ chainId, asset: nativeAsset(chain).address });
		return usdCentsUp(usdValueUp(wei, { decimals: 18, usdE18 }));
	}

	function exposureLimit(order: Order): ExposureLimit | undefined {
		const origin = sidesOf(order)?.origin;
		if (!origin || isSettlement(origin)) return undefined;
		const { perAsset, bySymbol } = config.limits.exposureUsd;
		const usd = bySymbol[origin.asset.symbol] ?? perAsset;
		const { chainId, asset: token } = assetId(origin);
		return {
			chainId,
			token,
			amount: amountWorthDown(usdE18(usd), book.reference({ chainId, asset: token })),
		};
	}

	function freshMinimum({ order, delivery, inFlight = 0n }: PricedOrder & { inFlight?: bigint }): bigint {
		const destination = sidesOf(order)?.destination;
		if (delivery.kind !== "router" || !destination) return order.minOutput;
		if (!book.isLive(assetId(destination), { nowMs: nowMs() })) return order.minOutput;
		const bought = book.buy({ ...assetId(destination), budget: delivery.budget, inFlight });
		const fresh = mulDivDown(bought?.output ?? 0n, bps - fillToleranceBps, bps);
		return greater(fresh, order.minOutput);
	}

	function price(
		swap: Pick<ResolvedRequest, "origin" | "destination" | "amount">,
		options: { feeCentibps: number; inFlight?: { sell: bigint; buy: bigint } },
	): SwapPrice {
		const areStable = swap.origin.asset.kind === "stable" && swap.destination.asset.kind === "stable";
		const { stable, volatile } = config.price.optionCentibps;
		return priceSwap(book, { ...swap, ...options, optionCentibps: areStable ? stable : volatile });
	}

	function priceWithinLimits(resolved: ResolvedRequest, feeCentibps: number): Exclude<SwapPrice, string> {
		const { amount, origin } = resolved;
		const reference = book.reference(assetId(origin));
		const minimum = amountWorthUp(usdE18(config.price.minimumUsd), reference);
		const maximum = amountWorthDown(usdE18(config.price.maximumUsd), reference);
		const priceOf = (size: bigint): SwapPrice => {
			if (size > maximum) return "too-large";
			return size < minimum ? "too-small" : price({ ...resolved, amount: size }, { feeCentibps });
		};
		const passes = (size: bigint): boolean => typeof priceOf(size) !== "string";

		const priced = priceOf(amount);
		if (priced === "too-large") {
			const largest = passes(maximum) ? maximum : greatestPassing(lesser(amount, maximum), passes);
			if (largest === 0n) throw noRoute("capacity", "No amount of this pair can be priced now.");
			throw noRoute("capacity", `The amount is too large. Send at most ${largest}.`, largest);
		}
		if (priced === "too-small") {
			const smallest = leastPassing(greater(amount, minimum), passes);
			if (smallest === undefined)
				throw noRoute("pair", "No amount of this pair pays for its network costs now.");
			throw new SwapError("NEEDS_LARGER_SIZE", { minimumAmount: String(smallest) });
		}
		return priced;
	}

	function isLive({ origin, destination }: { origin: Side; destination: Side }, nowMs: number): boolean {
		return [origin, destination].every(
			({ chain, asset }) =>
				book.isLive({ chainId: chain.chainId, asset: asset.address }, { nowMs }) &&
				book.isReferenceLive({ chainId: chain.chainId, asset: nativeAsset(chain).address }, { nowMs }),
		);
	}

	function warningsOf(impactBps: number): DeskQuote["warnings"] {
		if (impactBps > config.price.highImpactBps) return [];
		const percent = (-impactBps / 100).toFixed(2);
		return [
			{
				code: "HIGH_PRICE_IMPACT",
				message: `The output is worth ${percent} % less than the input, all costs included.`,
			},
		];
	}

	/** How long until a transaction sent now is as deep as its value asks for. */
	function secondsToDepth(chain: ChainConfig, valueUsdCents: bigint): number {
		const blockSeconds = book.blockSeconds(chain.chainId);
		const depth = chain.depths
			.filter(({ upToUsd }) => valueUsdCents <= BigInt(Math.floor(upToUsd * 100)))
			.map(({ blocks }) => blocks);
		return blockSeconds + (depth.length > 0 ? Math.min(...depth) * blockSeconds : chain.finalitySeconds);
	}

	/** The two sides of an order, as far as they are still offered. */
	function sidesOf(order: Order): { origin: Side; destination: Side } | undefined {
		const origin = sideOf(order.originChainId, fromWord(order.inputToken));
		const destination = sideOf(order.destinationChainId, fromWord(order.outputToken));
		return origin && destination && { origin, destination };
	}

	function sideOf(chainId: bigint, token: Address): Side | undefined {
		const chain = chains.get(toChainId(chainId));
		const asset = chain?.deployment.assets.find(({ address }) => address === token);
		return chain && asset && { chain, asset };
	}
}

/** The native token's pools are the wrapped one's: their volume adds up. */
function pairOf({ chain, asset }: Side): { chainId: number; token: Address } {
	const token = asset.address === zeroAddress ? chain.deployment.wrappedNative : asset.address;
	return { chainId: chain.chainId, token };
}

/** On a way of two pools the wrapped native token is bought first. Which way is taken may change until then. */
function boughtOn(side: Side): { chainId: number; token: Address }[] {
	const { chainId, deployment } = side.chain;
	const isByWayOfNative = side.asset.paths.some((fees) => fees.length > 1);
	return isByWayOfNative ? [pairOf(side), { chainId, token: deployment.wrappedNative }] : [pairOf(side)];
}

/** Of a number in the config, to the millionth. */
function usdE18(usd: number): bigint {
	return BigInt(Math.round(usd * 1e6)) * 10n ** 12n;
}
