import {
	type Amount,
	addressOfWord,
	emptyAccountRentLamports,
	formatAddress,
	greater,
	lesser,
	type Milliseconds,
	mulDivDown,
	newSwapUuid,
	type Order,
	type QuoteRequest,
	SwapError,
	toChainId,
	unpackDeadlines,
	type Wei,
} from "@geoswap/protocol";
import { type Hex, zeroAddress } from "viem";
import type { Config } from "../config/config.ts";
import type { HoldingLimit } from "../swap/facts/reservation.ts";
import type { PauseList } from "../swap/pause/pause-list.ts";
import { describeQuote, formatUsd, priceImpactBps, usdCentsUp } from "./describe-quote.ts";
import type { Desk, DeskQuote, PricedOrder, Repriced } from "./desk.ts";
import { deskChains, isLamports, isSettlement, type Side } from "./desk-chain.ts";
import { deskOrder } from "./desk-order.ts";
import { findMaxSize, findMinSize } from "./find-max-size.ts";
import { networkCost } from "./network-cost.ts";
import { optionPrice } from "./option-price.ts";
import { ownAddresses } from "./own-addresses.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { describeStop, type PriceStop } from "./price/price-stop.ts";
import { amountWorthDown, amountWorthUp, usdValueDown, usdValueUp } from "./price/usd-value.ts";
import {
	assetId,
	capDelivery,
	lesserDelivery,
	maxPaid,
	minOutputAfterSlippage,
	priceSwap,
	type SwapPrice,
} from "./price-swap.ts";
import { noRoute, type ResolvedRequest, resolveRequest } from "./resolve-request.ts";
import { secondsToDepth } from "./seconds-to-depth.ts";

const quoteLifeMs = 30_000;
const opLifeMs = 90_000;
/**
 * Milliseconds before the open deadline at which an op expires, because one submitted later may not be mined in time.
 */
const inclusionMs = 30_000;

/** The tolerance of a fill through the router below the fresh price. */
const fillToleranceBps = 30n;
const bps = 10_000n;
/**
 * The minimum gas for each compressed byte of the service's transactions. It bounds their data where only their gas
 * is known.
 */
const gasPerByte = 50n;
/** If gas determines the minimum size, the reported minimum is one part in this many larger. */
const gasRoom = 200n;

export function createDesk({
	config,
	priceCache,
	pauses,
	nowMs,
	random,
}: {
	config: Pick<Config, "chains" | "price" | "limits">;
	priceCache: PriceCache;
	/** Absent if the process quotes no new swaps. */
	pauses?: Pick<PauseList, "reasonOf">;
	nowMs: () => Milliseconds;
	random: (size: number) => Uint8Array;
}): Desk {
	const chains = deskChains(config);
	const refused = ownAddresses(config);
	const baseFeeMillibps = Math.round(config.price.feeBps * 1_000);

	return {
		baseFeeMillibps,
		isLive: (asset) => {
			const side = sideOf(asset.chainId, asset.token);
			return side !== undefined && stopOf(side, nowMs()) === undefined;
		},
		stopOf: ({ chainId, token }) => {
			const side = sideOf(chainId, token);
			return side && stopOf(side, nowMs());
		},
		quote,
		reprice,
		isPriceable,
		valueUsdCents: (order) => {
			const sides = sidesOf(order);
			return sides && isLive(sides, nowMs()) ? inputUsdCents(sides.origin, order.inputAmount) : undefined;
		},
		gasUsdCents,
		gasWei,
		tipNow: priceCache.tip,
		worthE18,
		holdingLimit,
		volumes,
		freshMinimum,
		deliveryNow,
	};

	function quote(
		request: QuoteRequest,
		{
			feeMillibps = baseFeeMillibps,
			recipient: known,
			isDelegated,
			mandate,
			topUp = 0n,
			accountId,
		}: Parameters<Desk["quote"]>[1] = {},
	): DeskQuote {
		const issuedAtMs = nowMs();
		const resolved = resolveRequest(request, { chains, ownAddresses: refused, accountId });
		const { origin, destination, amount, recipient, slippageBps } = resolved;
		for (const side of ["origin", "destination"] as const) {
			const { chain, asset } = resolved[side];
			const reason = pauses?.reasonOf(chain.chainId, asset.address);
			if (reason !== undefined) {
				const message = `${chain.name} is paused: ${reason}. Swaps under way go on. Choose another chain, or try again later.`;
				throw noRoute("paused", message, { side });
			}
			const stop = stopOf(resolved[side], issuedAtMs);
			if (stop) {
				const message = `The price of ${asset.symbol} on ${chain.name} is uncertain at the moment: ${describeStop(stop)}. Try again in a minute.`;
				throw noRoute("paused", message, { side });
			}
		}
		if (known?.payProblem) {
			const path = request.recipient === undefined ? "walletAddress" : "recipient";
			throw new SwapError("INVALID_REQUEST", { issues: [{ path, message: known.payProblem }] });
		}
		const hasAccount = known?.hasAccount ?? false;
		const { networkMarginBps: marginBps } = config.price;
		const nativeRecipient = known?.native;
		const { chain } = destination;
		if (topUp > 0n && (chain.kind !== "evm" || !sideOf(chain.chainId, zeroAddress))) {
			const message = `a recipient on ${chain.name} gets the output only`;
			throw new SwapError("INVALID_REQUEST", { issues: [{ path: "topUp", message }] });
		}
		const charge = networkCost(priceCache, resolved, {
			marginBps,
			isDelegated,
			mandate,
			nativeRecipient,
			topUp,
		});
		const options = { feeMillibps, hasAccount, networkCost: charge };
		const { delivery, output, accountCost } = priceWithinLimits(resolved, options);

		const uuid = newSwapUuid({ nowMs: issuedAtMs, random: random(10) });
		const minOutput = minOutputAfterSlippage(output, slippageBps);
		const order = deskOrder(resolved, { uuid, issuedAtMs, minOutput, topUp });
		const inputE18 = usdValueDown(amount, priceCache.reference(assetId(origin)));
		const outputE18 = usdValueDown(output, priceCache.reference(assetId(destination)));
		const impactBps = priceImpactBps({ inputE18, outputE18 });
		const valueUsdCents = inputUsdCents(origin, amount);
		const openDeadlineMs = Number(unpackDeadlines(order.deadlines).openDeadline) * 1_000;
		return {
			uuid,
			order,
			originKind: origin.chain.kind,
			output,
			minOutput,
			recipientAccountCost: accountCost,
			delivery,
			networkCost: charge,
			nativeRecipient,
			feeMillibps,
			feeBps: feeMillibps / 1_000,
			valueUsdCents,
			inputUsd: formatUsd(inputE18),
			outputUsd: formatUsd(outputE18),
			priceImpactBps: impactBps,
			warnings: warningsOf(impactBps),
			recipient: formatAddress(destination.chain.chainId, recipient),
			slippageBps,
			etaSeconds: Math.ceil(
				secondsToDepth(priceCache, { chain: origin.chain, valueUsdCents }) +
					secondsToDepth(priceCache, { chain: destination.chain, valueUsdCents }),
			),
			summary: describeQuote({ origin, destination, amount, output, accountCost }),
			issuedAtMs,
			expiresAtMs: issuedAtMs + quoteLifeMs,
			opExpiresAtMs: Math.min(issuedAtMs + opLifeMs, openDeadlineMs - inclusionMs),
		};
	}

	function reprice(
		{ order, delivery, feeMillibps, ...known }: Parameters<Desk["reprice"]>[0],
		inFlight: { sell: bigint; buy: bigint },
	): Repriced | undefined {
		const sides = sidesOf(order);
		if (!sides || !isLive(sides, nowMs())) return undefined;
		// A quote that charged for an account has a minimum that the amount without the rent reaches.
		const isCountedOn = delivery.kind === "payout" && delivery.amount < order.minOutput;
		const hasAccount = known.hasAccount ?? isCountedOn;
		// Within its margin, the quote's charge covers higher fees. Beyond it the output falls, down to the order's minimum.
		const { isDelegated, mandate, nativeRecipient = "account" } = known;
		const { topUp } = order;
		const chargeNow = networkCost(priceCache, sides, { isDelegated, mandate, nativeRecipient, topUp });
		const charge = greater(known.networkCost ?? 0n, chargeNow);
		const options = { feeMillibps, hasAccount, networkCost: charge, inFlight };
		const now = price({ ...sides, amount: order.inputAmount }, options);
		if (typeof now === "string") return undefined;
		const { destination } = sides;
		const repriced = lesserDelivery(priceCache, {
			destination,
			quoted: delivery,
			now: now.delivery,
			hasAccount,
			inFlight: inFlight.buy,
		});
		if (!repriced || repriced.output < order.minOutput) return undefined;
		return {
			...repriced,
			chainId: destination.chain.chainId,
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

	function inputUsdCents(origin: Side, amount: Amount): bigint {
		return usdCentsUp(usdValueUp(amount, priceCache.reference(assetId(origin))));
	}

	function gasUsdCents({ chainId, wei }: { chainId: number; wei: Wei }): bigint {
		const chain = chains.get(chainId);
		if (!chain || priceCache.ageMs(chainId, { nowMs: nowMs() }) === undefined) return 0n;
		const { usdE18 } = priceCache.reference({ chainId, asset: chain.native.address });
		return usdCentsUp(usdValueUp(wei, { decimals: chain.nativeDecimals, usdE18 }));
	}

	function gasWei({ chainId, gas }: { chainId: number; gas: bigint }): bigint {
		const chain = chains.get(chainId);
		if (chain?.kind !== "evm" || priceCache.ageMs(chainId, { nowMs: nowMs() }) === undefined) return 0n;
		const bytes = Number(gas / gasPerByte) + 1;
		return priceCache.transactionCost(chainId, { gas, fastLzBytes: bytes, brotliBytes: bytes });
	}

	function worthE18({
		chainId,
		token,
		amount,
	}: {
		chainId: bigint;
		token: Hex;
		amount: Amount;
	}): bigint | undefined {
		const side = chainId <= BigInt(Number.MAX_SAFE_INTEGER) ? sideOf(Number(chainId), token) : undefined;
		if (!side || priceCache.feedUpdatedAtUnixSeconds(assetId(side)) === undefined) return undefined;
		const reference = priceCache.reference(assetId(side));
		return reference.usdE18 > 0n ? usdValueUp(amount, reference) : undefined;
	}

	function holdingLimit(order: Order): HoldingLimit | undefined {
		const origin = sidesOf(order)?.origin;
		if (!origin) return undefined;
		const { perAsset, bySymbol } = config.limits.maxHoldingUsd;
		const usd = bySymbol[origin.asset.symbol] ?? perAsset;
		const { chainId, asset: token } = assetId(origin);
		return {
			chainId,
			token,
			amount: amountWorthDown(usdE18(usd), priceCache.reference({ chainId, asset: token })),
		};
	}

	function freshMinimum({ order, delivery, inFlight = 0n }: PricedOrder & { inFlight?: Amount }): bigint {
		const destination = sidesOf(order)?.destination;
		if (delivery.kind !== "router" || !destination) return order.minOutput;
		if (!priceCache.isLive(assetId(destination), { nowMs: nowMs() })) return order.minOutput;
		const bought = priceCache.buy({ ...assetId(destination), budget: delivery.budget, inFlight });
		const fresh = mulDivDown(bought?.output ?? 0n, bps - fillToleranceBps, bps);
		return greater(fresh, order.minOutput);
	}

	function deliveryNow({ order, delivery }: PricedOrder): ReturnType<Desk["deliveryNow"]> {
		const sides = sidesOf(order);
		if (!sides || !isLive(sides, nowMs())) return "no-price";
		const { inputAmount: amount, topUp } = order;
		const optionMillibps = optionOf(sides);
		const { settlementSpreadBps } = config.price;
		const options = { optionMillibps, settlementSpreadBps };
		const capped = capDelivery(priceCache, { ...sides, amount, delivery, topUp, ...options });
		if (!capped) return "no-price";
		// The vault itself enforces the minimum when it buys through the router.
		const least = capped.kind === "router" ? 1n : order.minOutput;
		return maxPaid(capped) < least ? "below-minimum" : capped;
	}

	function optionOf({ origin, destination }: { origin: Side; destination: Side }): number {
		const blockSeconds = priceCache.blockSeconds(destination.chain.chainId);
		return optionPrice({ origin, destination, blockSeconds }, config.price);
	}

	function price(
		swap: Pick<ResolvedRequest, "origin" | "destination" | "amount">,
		options: {
			feeMillibps: number;
			hasAccount: boolean;
			networkCost: Amount;
			inFlight?: { sell: bigint; buy: bigint };
		},
	): SwapPrice {
		const { settlementSpreadBps } = config.price;
		return priceSwap(priceCache, {
			...swap,
			...options,
			optionMillibps: optionOf(swap),
			settlementSpreadBps,
		});
	}

	function priceWithinLimits(
		resolved: ResolvedRequest,
		options: { feeMillibps: number; hasAccount: boolean; networkCost: Amount },
	): Exclude<SwapPrice, string> {
		const { amount, origin } = resolved;
		const reference = priceCache.reference(assetId(origin));
		const minimum = amountWorthUp(usdE18(config.price.minimumUsd), reference);
		const maximum = amountWorthDown(usdE18(config.price.maximumUsd), reference);
		const priceOf = (size: bigint): SwapPrice => {
			if (size > maximum) return "too-large";
			if (size < minimum) return "too-small";
			const priced = price({ ...resolved, amount: size }, options);
			return typeof priced === "string" || isKept(resolved, size, priced.output) ? priced : "too-small";
		};
		const passes = (size: bigint): boolean => typeof priceOf(size) !== "string";

		const priced = priceOf(amount);
		if (priced === "too-large") {
			const largest = passes(maximum) ? maximum : findMaxSize(lesser(amount, maximum), passes);
			if (largest === 0n) throw noRoute("capacity", "No amount of this pair can be priced now.");
			throw noRoute("capacity", `The amount is too large. Send at most ${largest}.`, {
				maximumAmount: String(largest),
			});
		}
		if (priced === "too-small") {
			// The search starts at the configured minimum for any amount, so that every request gets the same minimum.
			// Rounding by a unit would otherwise make the result depend on the start.
			const floor = findMinSize(minimum, (size) => priceOf(size) === "too-small");
			if (floor === undefined || !passes(floor)) {
				throw noRoute("pair", "No amount of this pair pays for its network costs now.");
			}
			// The configured minimum is constant, but gas costs may change before the caller's next request.
			const roomy = floor === minimum && amount < minimum ? floor : floor + floor / gasRoom;
			throw new SwapError("NEEDS_LARGER_SIZE", { minimumAmount: String(passes(roomy) ? roomy : floor) });
		}
		return priced;
	}

	/**
	 * Returns false if a SOL amount is below the rent of an empty account, because a wallet that holds nothing else
	 * could receive neither the output nor a refund.
	 */
	function isKept(
		{ origin, destination, slippageBps }: ResolvedRequest,
		input: Amount,
		output: Amount,
	): boolean {
		const paid = [
			...(isLamports(origin) ? [input] : []),
			...(isLamports(destination) ? [minOutputAfterSlippage(output, slippageBps)] : []),
		];
		return paid.every((lamports) => lamports >= emptyAccountRentLamports);
	}

	function isLive(
		{ origin, destination }: { origin: Side; destination: Side },
		nowMs: Milliseconds,
	): boolean {
		return [origin, destination].every((side) => stopOf(side, nowMs) === undefined);
	}

	/**
	 * Returns why the side cannot be priced, because of the asset or of the native token in which its chain's fees are
	 * paid.
	 */
	function stopOf({ chain: { chainId, native }, asset }: Side, nowMs: Milliseconds): PriceStop | undefined {
		return (
			priceCache.stopOf({ chainId, asset: asset.address }, { nowMs }) ??
			priceCache.referenceStopOf({ chainId, asset: native.address }, { nowMs })
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

	/** Returns both sides of an order, or undefined if one is no longer offered. */
	function sidesOf(order: Order): { origin: Side; destination: Side } | undefined {
		const { originChainId: from, destinationChainId: to } = order;
		const origin = sideOf(toChainId(from), addressOfWord(from, order.inputToken));
		const destination = sideOf(toChainId(to), addressOfWord(to, order.outputToken));
		return origin && destination && { origin, destination };
	}

	function sideOf(chainId: number, token: Hex): Side | undefined {
		const chain = chains.get(chainId);
		const asset = chain?.assets.find(({ address }) => address === token);
		return chain && asset && { chain, asset };
	}
}

/**
 * Returns the token whose pools are used. The native token counts as the wrapped one, so that their volumes add up.
 */
function pairOf({ chain, asset }: Side): { chainId: number; token: Hex } {
	const isWrapped = chain.kind === "evm" && asset.address === zeroAddress;
	return { chainId: chain.chainId, token: isWrapped ? chain.wrappedNative : asset.address };
}

/**
 * Returns the tokens that may be bought. A route of two pools buys the wrapped native token first, and the route may
 * still change before the fill.
 */
function boughtOn(side: Side): { chainId: number; token: Hex }[] {
	const { chain, asset } = side;
	const isByWayOfNative = chain.kind === "evm" && asset.paths.some((fees) => fees.length > 1);
	return isByWayOfNative
		? [pairOf(side), { chainId: chain.chainId, token: chain.wrappedNative }]
		: [pairOf(side)];
}

/** Converts a number from the config, to the millionth. */
function usdE18(usd: number): bigint {
	return BigInt(Math.round(usd * 1e6)) * 10n ** 12n;
}
