import {
	type Amount,
	emptyAccountRentLamports,
	formatAddress,
	lesser,
	type Milliseconds,
	newSwapUuid,
	type QuoteRequest,
	SwapError,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import type { DemandLog } from "../swap/facts/demand-log.ts";
import type { FreeInventory } from "../swap/facts/free-inventory.ts";
import type { PauseList } from "../swap/pause/pause-list.ts";
import type { SwapPricer } from "./create-swap-pricer.ts";
import type { Desk, DeskQuote } from "./desk.ts";
import { type DeskChain, isLamports, isSameAsset, isSettlement, type Side } from "./desk-chain.ts";
import { deskOrder } from "./desk-order.ts";
import { findMaxSize, findMinSize } from "./find-max-size.ts";
import { networkCost, secondsToDepth } from "./network-cost.ts";
import { ownAddresses } from "./own-addresses.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { describeStop } from "./price/price-stop.ts";
import { amountWorthDown, amountWorthUp, toUsdE18, usdValueDown } from "./price/usd-value.ts";
import { assetId, maxPaid, minOutputAfterSlippage, type Supply, type SwapPrice } from "./price-swap.ts";
import { requestedTopUp } from "./requested-top-up.ts";
import { type NamedRequest, noRoute, resolveRequest } from "./resolve-request.ts";
import { describeQuote, describeUnits, formatUsd, priceImpactBps } from "./sealed-quote.ts";
import { swapSkewCentibps } from "./skew.ts";
import { createVaultRoom, paidToken } from "./vault-room.ts";

type SizeProblem = Extract<SwapPrice, string>;
/** A way to get the output, and what it costs. */
type Supplied = { supply: Supply; networkCost: Amount; skewCentibps: number };
type Priced = Exclude<SwapPrice, string> & Supplied;

const quoteLifeMs = 30_000;
const opLifeMs = 90_000;
/**
 * Milliseconds before the open deadline at which an op expires, because one submitted later may not be mined in time.
 */
const inclusionMs = 30_000;

/** If gas determines the minimum size, the reported minimum is one part in this many larger. */
const gasRoom = 200n;

/** Creates the part of a desk that prices a new request, within the configured sizes, and fixes the terms of its order. */
export function createQuoter({
	config,
	chains,
	priceCache,
	pricer,
	pauses,
	inventory,
	demand,
	nowMs,
	random,
}: {
	config: Pick<Config, "chains" | "price" | "limits">;
	chains: ReadonlyMap<number, DeskChain>;
	priceCache: PriceCache;
	pricer: SwapPricer;
	/** Absent if the process quotes no new swaps. */
	pauses: Pick<PauseList, "reasonOf"> | undefined;
	/** Absent if quotes are not limited by what the vaults hold. */
	inventory: FreeInventory | undefined;
	/** Absent if no plan uses it. */
	demand: Pick<DemandLog, "quoted" | "refused"> | undefined;
	nowMs: () => Milliseconds;
	random: (size: number) => Uint8Array;
}): { quote: Desk["quote"]; baseFeeMillibps: number } {
	const { stopOf, inputUsdCents, holdingLimitOf, price } = pricer;
	const hasRoom = createVaultRoom(inventory, config.limits);
	const refused = ownAddresses(config);
	const baseFeeMillibps = Math.round(config.price.feeBps * 1_000);

	return { quote, baseFeeMillibps };

	function quote(
		request: QuoteRequest,
		{
			feeMillibps = baseFeeMillibps,
			recipient: known,
			isDelegated,
			mandate,
			accountId,
		}: Parameters<Desk["quote"]>[1] = {},
	): DeskQuote {
		const issuedAtMs = nowMs();
		const named = resolveRequest(request, { chains, ownAddresses: refused, accountId });
		const { origin, destination, recipient, slippageBps } = named;
		for (const side of ["origin", "destination"] as const) {
			const { chain, asset } = named[side];
			const reason = pauses?.reasonOf(chain.chainId, asset.address);
			if (reason !== undefined) {
				const message = `${chain.name} is paused: ${reason}. Swaps under way go on. Choose another chain, or try again later.`;
				throw noRoute("paused", message, { side });
			}
			const stop = stopOf(named[side], issuedAtMs);
			if (stop) {
				const message = `The price of ${asset.symbol} on ${chain.name} is uncertain at the moment: ${describeStop(stop)}. Try again in a minute.`;
				throw noRoute("paused", message, { side });
			}
		}
		const topUp = requestedTopUp(priceCache, request, {
			chain: destination.chain,
			maximumUsd: config.price.maximumTopUpUsd,
		});
		const payProblem = known?.payProblem ?? (topUp.amount > 0n ? known?.topUpProblem : undefined);
		if (payProblem) {
			const path = request.recipient === undefined ? "walletAddress" : "recipient";
			throw new SwapError("INVALID_REQUEST", { issues: [{ path, message: payProblem }] });
		}
		const hasAccount = known?.hasAccount ?? false;
		const { networkMarginBps: marginBps } = config.price;
		const nativeRecipient = known?.native;
		const terms = { marginBps, isDelegated, mandate, nativeRecipient, topUp: topUp.amount };
		const supplies = suppliesOf(named).map((supply) => ({
			supply,
			skewCentibps: skewOf(named, { supply, feeMillibps }),
			networkCost: networkCost(priceCache, named, { ...terms, isFromInventory: supply !== "router" }),
		}));
		const options = { feeMillibps, hasAccount, topUp: topUp.amount, supplies, accountId };
		const priced = priceWithinLimits(named, request, options);
		const { amount, delivery, output, accountCost } = priced;

		const uuid = newSwapUuid({ nowMs: issuedAtMs, random: random(10) });
		const minOutput = minOutputAfterSlippage(output, slippageBps);
		const order = deskOrder({ ...named, amount }, { uuid, issuedAtMs, minOutput, topUp: topUp.amount });
		const inputE18 = usdValueDown(amount, priceCache.reference(assetId(origin)));
		const outputE18 = usdValueDown(output, priceCache.reference(assetId(destination)));
		const impactBps = priceImpactBps({ inputE18, outputE18: outputE18 + topUp.valueE18 });
		const valueUsdCents = inputUsdCents(origin, amount);
		if (accountId !== undefined) demand?.quoted({ accountId, valueUsdCents });
		const openDeadlineMs = Number(unpackDeadlines(order.deadlines).openDeadline) * 1_000;
		return {
			uuid,
			order,
			originKind: origin.chain.kind,
			amount,
			output,
			minOutput,
			topUpUsd: formatUsd(topUp.valueE18),
			recipientAccountCost: accountCost,
			delivery,
			networkCost: priced.networkCost,
			nativeRecipient,
			feeMillibps,
			feeBps: feeMillibps / 1_000,
			skewCentibps: priced.skewCentibps,
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
			summary: describeQuote({ origin, destination, amount, output, accountCost, topUp: topUp.amount }),
			issuedAtMs,
			expiresAtMs: issuedAtMs + quoteLifeMs,
			opExpiresAtMs: Math.min(issuedAtMs + opLifeMs, openDeadlineMs - inclusionMs),
		};
	}

	/** Prices the requested input, or the least input for the requested output. Throws unless both are within limits. */
	function priceWithinLimits(
		named: NamedRequest,
		{ amount, outputAmount }: Pick<QuoteRequest, "amount" | "outputAmount">,
		{
			topUp,
			supplies,
			accountId,
			...options
		}: {
			feeMillibps: number;
			hasAccount: boolean;
			topUp: Amount;
			/** The ways to get the output, the preferred one first, and what each costs. */
			supplies: Supplied[];
			accountId: string | undefined;
		},
	): Priced & { amount: Amount } {
		const { origin, destination, slippageBps } = named;
		const reference = priceCache.reference(assetId(origin));
		const minimum = amountWorthUp(toUsdE18(config.price.minimumUsd), reference);
		const maximum = amountWorthDown(toUsdE18(config.price.maximumUsd), reference);
		const holdingLimit = holdingLimitOf(origin);
		const priceOf = (size: bigint): Priced | SizeProblem => {
			if (size > maximum) return "too-large";
			if (size < minimum) return "too-small";
			let first: SizeProblem | undefined;
			for (const supplied of supplies) {
				const result = priceBy(size, supplied);
				if (typeof result !== "string") return result;
				// The preferred way costs least. If it only lacks room, a smaller size has a price.
				first ??= result;
			}
			return first ?? "too-large";
		};
		const priceBy = (size: bigint, supplied: Supplied): Priced | SizeProblem => {
			const priced = price({ ...named, amount: size }, { ...options, ...supplied });
			if (typeof priced === "string") return priced;
			const { delivery } = priced;
			if (!hasRoom({ origin, destination, amount: size, topUp, delivery, holdingLimit })) return "too-large";
			return isKept(named, size, priced.output) ? { ...priced, ...supplied } : "too-small";
		};
		/** Records what a size would have needed, if nothing but inventory stands against it. */
		const noteRefused = (size: bigint): void => {
			const supplied = supplies.at(-1);
			if (accountId === undefined || !supplied || size > maximum) return;
			const priced = price({ ...named, amount: size }, { ...options, ...supplied });
			if (typeof priced === "string") return;
			const { delivery } = priced;
			const { chainId } = destination.chain;
			demand?.refused({
				accountId,
				valueUsdCents: inputUsdCents(origin, size),
				taken: { chainId, token: paidToken(destination, delivery), amount: maxPaid(delivery) },
				brought: { chainId: origin.chain.chainId, token: origin.asset.address, amount: size },
			});
		};
		const passes = (size: bigint): boolean => typeof priceOf(size) !== "string";
		/** Returns what an input delivers at least. */
		const deliveredFor = (size: bigint): Amount => {
			const priced = priceOf(size);
			return typeof priced === "string" ? 0n : minOutputAfterSlippage(priced.output, slippageBps);
		};
		const largestBelow = (size: bigint): bigint => {
			const largest = passes(maximum) ? maximum : findMaxSize(lesser(size, maximum), passes);
			if (largest === 0n) throw nothingFits();
			return largest;
		};
		const smallest = (): bigint => {
			// The search starts at the configured minimum for any amount, so that every request gets the same minimum.
			// Rounding by a unit would otherwise make the result depend on the start.
			const floor = findMinSize(minimum, (size) => priceOf(size) === "too-small");
			if (floor !== undefined && passes(floor)) return floor;
			if (floor !== undefined && priceOf(floor) === "too-large") throw nothingFits();
			throw noRoute("pair", "No amount of this pair pays for its network costs now.");
		};

		if (amount === undefined) {
			const target = outputAmount ?? 0n;
			const floor = smallest();
			// The least input that delivers something may deliver more than a unit, because an input has a least value.
			if (deliveredFor(floor) > target) throw tooSmall("Receive", destination, deliveredFor(floor));
			const isTooSmall = (size: bigint) => priceOf(size) !== "too-large" && deliveredFor(size) < target;
			const size = findMinSize(floor, isTooSmall) ?? maximum + 1n;
			const priced = priceOf(size);
			if (typeof priced !== "string") return { ...priced, amount: size };
			noteRefused(size);
			throw tooLarge("Receive", destination, deliveredFor(largestBelow(size)));
		}
		const priced = priceOf(amount);
		if (priced === "too-large") {
			noteRefused(amount);
			throw tooLarge("Send", origin, largestBelow(amount));
		}
		if (priced === "too-small") {
			const floor = smallest();
			// The configured minimum is constant, but gas costs may change before the caller's next request.
			const roomy = floor === minimum && amount < minimum ? floor : floor + floor / gasRoom;
			throw tooSmall("Send", origin, passes(roomy) ? roomy : floor);
		}
		return { ...priced, amount };
	}

	/**
	 * Returns the ways to get the output, the preferred one first. What is bought for each swap is delivered from
	 * inventory only by a recent reading.
	 */
	function suppliesOf(sides: NamedRequest): Supply[] {
		const { chain, asset } = sides.destination;
		const isInventoryKnown = inventory?.isCurrent() ?? false;
		if (chain.kind === "solana") return [isInventoryKnown && isSameAsset(sides) ? "same-asset" : "inventory"];
		if (isSettlement(sides.destination)) return ["inventory"];
		if (!asset.isFromInventory || !isInventoryKnown) return ["router"];
		return [isSameAsset(sides) ? "same-asset" : "inventory", "router"];
	}

	/** Returns what inventory adds to the price. An old reading adds nothing. */
	function skewOf(
		{ origin, destination }: NamedRequest,
		{ supply, feeMillibps }: { supply: Supply; feeMillibps: number },
	): number {
		if (!inventory?.isCurrent()) return 0;
		const isBought = supply === "router";
		const taken = isBought ? destination.chain.settlementToken : destination.asset.address;
		return swapSkewCentibps(
			{
				taken: inventory.of({ chainId: destination.chain.chainId, token: taken }),
				brought: inventory.of({ chainId: origin.chain.chainId, token: origin.asset.address }),
			},
			{ feeMillibps, maxBps: config.price.skew.maxBps },
		);
	}

	/**
	 * Returns false if a SOL amount is below the rent of an empty account, because a wallet that holds nothing else
	 * could receive neither the output nor a refund.
	 */
	function isKept(
		{ origin, destination, slippageBps }: NamedRequest,
		input: Amount,
		output: Amount,
	): boolean {
		const paid = [
			...(isLamports(origin) ? [input] : []),
			...(isLamports(destination) ? [minOutputAfterSlippage(output, slippageBps)] : []),
		];
		return paid.every((lamports) => lamports >= emptyAccountRentLamports);
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
}

function nothingFits(): SwapError<"NO_ROUTE"> {
	return noRoute("capacity", "No amount of this pair can be priced and delivered now.");
}

/** The amounts of a request are those that its wallet sends or, if it names its output, that its recipient gets. */
function tooLarge(verb: "Send" | "Receive", side: Side, most: Amount): SwapError<"NO_ROUTE"> {
	const message = `The amount is too large. ${verb} at most ${describeUnits(side, most)}.`;
	return noRoute("capacity", message, { maximumAmount: String(most) });
}

function tooSmall(verb: "Send" | "Receive", side: Side, least: Amount): SwapError<"NEEDS_LARGER_SIZE"> {
	const message = `The amount is too small to pay for its own network costs. ${verb} at least ${describeUnits(side, least)}.`;
	return new SwapError("NEEDS_LARGER_SIZE", { minimumAmount: String(least) }, { message });
}
