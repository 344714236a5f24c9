import { type Amount, type Milliseconds, unpackDeadlines, usdCents } from "@geoswap/protocol";
import type { Config } from "../../config/config.ts";
import type { Desk } from "../../desk/desk.ts";
import type { Side } from "../../desk/desk-chain.ts";
import { type SwapStep, secondsToDepth, stepCost } from "../../desk/network-cost.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { assetId } from "../../desk/price-swap.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import type { UntimedLine } from "./journal.ts";
import type { PaperInventory } from "./paper-inventory.ts";
import {
	type Entry,
	feeValueE18,
	move,
	type PaperSwap,
	paidAmount,
	paidSide,
	tokenIdOf,
	valueGivenE18,
	valueReceivedE18,
} from "./paper-ledger.ts";
import type { FillSimulation, PaperFill } from "./simulate-fill.ts";

/** How long a fill waits, for a price or below a cap, until it is tried again. */
const retryMs = 1_000;

type PricedFill = { delivery: Delivery; output: Amount };

export type PaperLanes = {
	/** Opens a submitted swap. What follows is scheduled until the swap is released or refunded. */
	open: (swap: PaperSwap) => void;
	/** Takes the outcome of a requested simulation, and fills or refunds its swap. */
	simulated: (swap: number, simulation: FillSimulation) => void;
};

/**
 * Opens, fills, releases and refunds swaps on paper, when the service's rounds and lanes would, and books the amounts
 * and fees of each transaction at the prices of that time. No transaction is sent.
 */
export function createPaperLanes({
	config,
	desk,
	priceCache,
	inventory,
	post,
	swaps,
	nowMs,
	schedule,
	tell,
	simulateFill,
}: {
	config: Pick<Config, "chains">;
	desk: Desk;
	priceCache: PriceCache;
	inventory: PaperInventory;
	/** Books an entry, and updates the inventory. */
	post: (entry: Entry) => void;
	/** All swaps of the day, because a cap is for all swaps of a chain. */
	swaps: ReadonlyMap<number, PaperSwap>;
	nowMs: () => Milliseconds;
	schedule: (atMs: Milliseconds, run: () => void) => void;
	tell: (line: UntimedLine) => void;
	/** Requests a simulation, whose outcome must be passed to `simulated`. Absent if fills are not simulated. */
	simulateFill?: ((swap: number, fill: PaperFill) => void) | undefined;
}): PaperLanes {
	const simulating = new Map<number, PricedFill>();

	return { open, simulated };

	function open(swap: PaperSwap): void {
		swap.openedAtMs = nowMs();
		pay(swap, "open", swap.origin);
		const { origin } = swap;
		const { valueUsdCents } = swap.quote;
		// The open is already mined, so only the depth on top of its block remains.
		const seconds =
			secondsToDepth(priceCache, { chain: origin.chain, valueUsdCents }) -
			priceCache.blockSeconds(origin.chain.chainId);
		schedule(nowMs() + 1_000 * seconds, () => fill(swap));
	}

	function fill(swap: PaperSwap): void {
		const { order } = swap.quote;
		const priced = priceFill(swap, reservedOf(swap).delivery);
		if (priced === "wait") {
			schedule(nowMs() + retryMs, () => fill(swap));
			return;
		}
		if (typeof priced === "string") {
			refund(swap, priced);
			return;
		}
		if (!simulateFill) {
			deliver(swap, priced);
			return;
		}
		simulating.set(swap.id, priced);
		const { delivery } = priced;
		const minOutput = desk.freshMinimum({ order, delivery });
		simulateFill(swap.id, {
			order,
			delivery,
			minOutput,
			inventory: inventory.held(tokenIdOf(paidSide(swap))),
		});
	}

	function simulated(id: number, simulation: FillSimulation): void {
		const [swap, priced] = [swaps.get(id), simulating.get(id)];
		if (!swap || !priced) throw new RangeError(`no simulation of swap ${id} was requested`);
		simulating.delete(id);
		swap.simulation = simulation.outcome;
		tell({ kind: "simulated", swap: id, ...simulation });
		if (simulation.outcome === "failed") refund(swap, `the fill would fail: ${simulation.reason}`);
		else deliver(swap, priced);
	}

	/** Books a fill at the current prices. */
	function deliver(swap: PaperSwap, { delivery, output }: PricedFill): void {
		const { order } = swap.quote;
		const reserved = reservedOf(swap);
		swap.state = "filled";
		inventory.reserve(reserved, -reserved.amount);
		tell({ kind: "filled", swap: swap.id, delivery });
		const paid = paidSide(swap);
		const given = paidAmount(delivery);
		const receivedE18 = valueReceivedE18(priceCache, swap.origin, order.inputAmount);
		const givenE18 = valueGivenE18(priceCache, paid, given);
		swap.filled = {
			receivedE18,
			givenE18,
			promisedE18: valueGivenE18(priceCache, swap.destination, swap.quote.output),
		};
		const isBought = delivery.kind === "router";
		post({
			memo: "fill",
			swap: swap.id,
			pair: swap.pair,
			gainE18: receivedE18 - givenE18,
			legs: [
				...move(given, { ...tokenIdOf(paid), from: "inventory", to: isBought ? "market" : "callers" }),
				...(isBought ? move(output, { ...tokenIdOf(swap.destination), from: "market", to: "callers" }) : []),
				...move(order.inputAmount, { ...tokenIdOf(swap.origin), from: "callers", to: "escrow" }),
			],
		});
		pay(swap, "fill", swap.destination);
		if (swap.isSameChain) {
			release(swap);
			return;
		}
		const { chainId, finalitySeconds } = swap.destination.chain;
		schedule(nowMs() + 1_000 * (priceCache.blockSeconds(chainId) + finalitySeconds), () => release(swap));
	}

	/** Prices the fill like the lane that would sign it now. Returns the reason if it is given up. */
	function priceFill(
		swap: PaperSwap,
		promised: Delivery,
	): PricedFill | "wait" | "the price moved" | "no fill in time" {
		const { order } = swap.quote;
		if (nowMs() > 1_000 * Number(unpackDeadlines(order.deadlines).fillDeadline)) return "no fill in time";
		if (exceedsCaps(swap)) return "wait";
		const delivery = desk.deliveryNow({ order, delivery: promised });
		if (delivery === "no-price") return "wait";
		const output = delivery === "below-minimum" ? undefined : outputOf(swap, delivery);
		if (delivery === "below-minimum" || output === undefined || output < order.minOutput)
			return "the price moved";
		return { delivery, output };
	}

	/** Returns what the recipient gets, or undefined if the pools cannot be priced. */
	function outputOf(swap: PaperSwap, delivery: Delivery): bigint | undefined {
		if (delivery.kind !== "router") return paidAmount(delivery);
		return priceCache.buy({ ...assetId(swap.destination), budget: delivery.budget })?.output;
	}

	function release(swap: PaperSwap): void {
		swap.isReleased = true;
		tell({ kind: "released", swap: swap.id });
		post({
			memo: "release",
			swap: swap.id,
			gainE18: 0n,
			legs: move(swap.quote.order.inputAmount, {
				...tokenIdOf(swap.origin),
				from: "escrow",
				to: "inventory",
			}),
		});
		if (!swap.isSameChain) pay(swap, "release", swap.origin);
	}

	function refund(swap: PaperSwap, reason: string): void {
		swap.state = "refunded";
		if (swap.reserved) inventory.reserve(swap.reserved, -swap.reserved.amount);
		tell({ kind: "refunded", swap: swap.id, reason });
		pay(swap, "void", swap.destination);
		pay(swap, "refund", swap.origin);
	}

	/** Books the fee of a transaction at the current fees and prices. */
	function pay(swap: PaperSwap, step: SwapStep, side: Side): void {
		const { chain } = side;
		const fee = stepCost(priceCache, side, { step, isSameChain: swap.isSameChain });
		const valueE18 = feeValueE18(priceCache, chain, fee);
		swap.feesE18 += valueE18;
		const token = chain.native.address;
		post({
			memo: step,
			swap: swap.id,
			pair: swap.pair,
			gainE18: -valueE18,
			legs: move(fee, { chainId: chain.chainId, token, from: "relayers", to: "chains" }),
		});
	}

	/**
	 * Returns true if the fill would exceed what may be delivered against inputs of this chain that the service does
	 * not own yet.
	 */
	function exceedsCaps({ origin: { chain }, quote, isSameChain, openedAtMs }: PaperSwap): boolean {
		const terms = config.chains.find(({ chainId }) => chainId === chain.chainId);
		if (!terms || isSameChain) return false;
		const isFinal = (openedMs = 0) => nowMs() >= openedMs + 1_000 * chain.finalitySeconds;
		const open = [...swaps.values()].filter(
			(other) =>
				other.state === "filled" && !other.isReleased && other.origin.chain.chainId === chain.chainId,
		);
		const sum = (of: readonly PaperSwap[]) =>
			of.reduce((cents, other) => cents + other.quote.valueUsdCents, 0n);
		const unfinal = open.filter((other) => !isFinal(other.openedAtMs));
		return (
			sum(open) + quote.valueUsdCents > usdCents(terms.unreleasedCapUsd) ||
			(!isFinal(openedAtMs) && sum(unfinal) + quote.valueUsdCents > usdCents(terms.unfinalCapUsd))
		);
	}
}

function reservedOf({ id, reserved }: PaperSwap): NonNullable<PaperSwap["reserved"]> {
	if (!reserved) throw new RangeError(`swap ${id} is filled before its submit`);
	return reserved;
}
