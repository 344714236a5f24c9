import {
	type Amount,
	type Milliseconds,
	type QuoteRequest,
	SwapError,
	unpackDeadlines,
	usdCents,
} from "@geoswap/protocol";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import type { Config } from "../../config/config.ts";
import { createDesk } from "../../desk/create-desk.ts";
import type { Repriced } from "../../desk/desk.ts";
import { deskChains, type Side } from "../../desk/desk-chain.ts";
import { type SwapStep, secondsToDepth, stepCost } from "../../desk/network-cost.ts";
import { configPriceCache } from "../../desk/price/config-price-cache.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import type { PriceNews } from "../../desk/price/price-news.ts";
import { assetId } from "../../desk/price-swap.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import { hashedRandom } from "./hashed-random.ts";
import type { Holding, JournalLine, ShadowTerms } from "./journal.ts";
import { createPaperInventory } from "./paper-inventory.ts";
import { createPaperLedger, type Entry, move } from "./paper-ledger.ts";
import { type PaperSwap, paidAmount, paidSide, paperSwap, volumeInFlight } from "./paper-swap.ts";
import { feeValueE18, valueGivenE18, valueReceivedE18 } from "./paper-value.ts";
import { replenishEntries } from "./replenish.ts";
import type { ShadowReport } from "./shadow-report.ts";
import type { FillSimulation, PaperFill } from "./simulate-fill.ts";
import { sumUp } from "./sum-up.ts";

/** How long a fill waits, for a price or below a cap, until it is tried again. */
const retryMs = 1_000;

type PricedFill = { delivery: Delivery; output: Amount };

/** A line without its time, which the day adds. */
type Told<Line = JournalLine> = Line extends JournalLine ? Omit<Line, "atMs"> : never;

export type ShadowDay = {
	priceCache: PriceCache;
	/** Puts new prices into the price cache. */
	learn: (news: PriceNews, atMs: Milliseconds) => void;
	/** Answers a request like the service, and begins its swap. */
	request: (request: QuoteRequest, atMs: Milliseconds) => void;
	/** Takes the outcome of a requested simulation, and fills or refunds its swap. */
	simulated: (swap: number, simulation: FillSimulation, atMs: Milliseconds) => void;
	/** Does everything that is due by then. */
	advance: (atMs: Milliseconds) => void;
	/** Replenishes, and returns the result. No other call may follow. */
	end: (atMs: Milliseconds) => ShadowReport;
	/** Swaps that were filled until now. */
	filled: () => number;
};

/**
 * Runs the service on paper, with no transaction sent. The real desk quotes over the real price cache, and each quote
 * is submitted, opened, filled and released at the times and prices at which the service would do so. The day depends
 * only on the calls, so the same prices and requests at the same times give the same day.
 */
export function createShadowDay({
	config,
	inventory: opening,
	terms,
	seed,
	source,
	startMs,
	simulateFill,
	write,
}: {
	config: Pick<Config, "chains" | "price" | "limits">;
	inventory: readonly Holding[];
	terms: ShadowTerms;
	seed: string;
	source: string;
	startMs: Milliseconds;
	/** Requests a simulation, whose outcome must be passed to `simulated`. Absent if fills are not simulated. */
	simulateFill?: ((swap: number, fill: PaperFill) => void) | undefined;
	write: (line: JournalLine) => void;
}): ShadowDay {
	let clockMs = startMs;
	const chains = deskChains(config);
	const random = hashedRandom(`${seed}/quotes`);
	const { priceCache, learn } = configPriceCache(config, { nowMs: () => clockMs });
	const desk = createDesk({ config, priceCache, nowMs: () => clockMs, random: random.bytes });
	const tell = (line: Told) => write({ ...line, atMs: clockMs } as JournalLine);
	const books = createPaperLedger({ write: (entry) => tell({ kind: "entry", ...entry }) });
	const swaps = new Map<number, PaperSwap>();
	/** Requests that became no swap, by reason. */
	const refusals = new Map<string, number>();
	let requests = 0;
	const simulating = new Map<number, PricedFill>();
	const due: { atMs: Milliseconds; run: () => void }[] = [];
	const { inventory, post } = createPaperInventory({ books, opening });

	tell({
		kind: "start",
		version: 1,
		source,
		seed,
		terms,
		inventory: [...opening],
	});
	post({
		memo: "opening inventory",
		gainE18: 0n,
		legs: opening.flatMap(({ amount, ...of }) => move(amount, { ...of, from: "market", to: "inventory" })),
	});
	const replenishEvery = () => {
		replenish();
		schedule(clockMs + terms.replenishEveryMs, replenishEvery);
	};
	schedule(startMs + terms.replenishEveryMs, replenishEvery);

	return {
		priceCache,
		learn: (news, atMs) => {
			advance(atMs);
			const recorded = news.kind === "prices" ? { ...news, prices: withoutReading(news.prices) } : news;
			tell(recorded);
			learn(recorded);
		},
		simulated,
		request,
		advance,
		end: (atMs) => {
			advance(atMs);
			replenish();
			const report = sumUp({
				priceCache,
				books,
				inventory,
				chains,
				swaps,
				requests,
				refusals,
				source,
				fromMs: startMs,
				toMs: clockMs,
			});
			tell({ kind: "end", report });
			return report;
		},
		filled: () => [...swaps.values()].filter(({ state }) => state === "filled").length,
	};

	function advance(atMs: Milliseconds): void {
		for (let next = due[0]; next && next.atMs <= atMs; next = due[0]) {
			due.shift();
			clockMs = Math.max(clockMs, next.atMs);
			next.run();
		}
		clockMs = Math.max(clockMs, atMs);
	}

	function schedule(atMs: Milliseconds, run: () => void): void {
		const after = due.findLastIndex((other) => other.atMs <= atMs);
		due.splice(after + 1, 0, { atMs, run });
	}

	function request(request: QuoteRequest, atMs: Milliseconds): void {
		advance(atMs);
		requests += 1;
		const id = requests;
		tell({ kind: "request", swap: id, request });
		try {
			const quote = desk.quote(request);
			const swap = paperSwap(id, quote, chains);
			swaps.set(id, swap);
			const { chainId, asset: token } = assetId(swap.destination);
			tell({
				kind: "quoted",
				swap: id,
				input: { ...idOf(swap.origin), amount: quote.order.inputAmount },
				output: { chainId, token, amount: quote.output },
				minOutput: quote.minOutput,
				delivery: quote.delivery,
				feeMillibps: quote.feeMillibps,
			});
			schedule(clockMs + terms.acceptMs, () => submit(swap));
		} catch (error) {
			if (!(error instanceof SwapError)) throw error;
			const reason = reasonOf(error);
			tellRefused(id, { at: "quote", reason });
		}
	}

	function submit(swap: PaperSwap): void {
		const { order, delivery, feeMillibps, networkCost } = swap.quote;
		const underWay = [...swaps.values()].filter(({ state }) => state === "submitted");
		const inFlight = volumeInFlight(underWay, desk.volumes({ order, delivery }));
		const repriced = desk.reprice({ order, delivery, feeMillibps, networkCost }, inFlight);
		const problem = repriced
			? admissionProblem(swap, { reserve: repriced, sold: inFlight.sell })
			: "the price moved";
		if (!repriced || problem !== undefined) {
			swap.state = "refused";
			tellRefused(swap.id, { at: "submit", reason: problem ?? "the price moved" });
			return;
		}
		swap.state = "submitted";
		swap.reserved = repriced;
		inventory.reserve(repriced, repriced.amount);
		tell({ kind: "submitted", swap: swap.id, delivery: repriced.delivery });
		schedule(clockMs + 1_000 * priceCache.blockSeconds(swap.origin.chain.chainId), () => open(swap));
	}

	/** Returns why a priced swap is refused at its submit, or undefined if it is accepted. */
	function admissionProblem(
		{ quote: { order } }: PaperSwap,
		{ reserve, sold }: { reserve: Repriced; sold: bigint },
	): string | undefined {
		if (inventory.free(reserve) < reserve.amount) return "too little inventory";
		const limit = desk.holdingLimit(order);
		const isOver = limit && inventory.held(limit) + sold + order.inputAmount > limit.amount;
		return isOver ? "too much of the input is held" : undefined;
	}

	function tellRefused(swap: number, { at, reason }: { at: "quote" | "submit"; reason: string }): void {
		const counted = `${at}: ${reason}`;
		refusals.set(counted, (refusals.get(counted) ?? 0) + 1);
		tell({ kind: "refused", swap, at, reason });
	}

	function open(swap: PaperSwap): void {
		swap.openedAtMs = clockMs;
		pay(swap, "open", swap.origin);
		const { origin } = swap;
		const { valueUsdCents } = swap.quote;
		// The open is already mined, so only the depth on top of its block remains.
		const seconds =
			secondsToDepth(priceCache, { chain: origin.chain, valueUsdCents }) -
			priceCache.blockSeconds(origin.chain.chainId);
		schedule(clockMs + 1_000 * seconds, () => fill(swap));
	}

	function fill(swap: PaperSwap): void {
		const { order } = swap.quote;
		const { reserved } = swap;
		if (!reserved) throw new RangeError(`swap ${swap.id} is filled before its submit`);
		const priced = priceFill(swap, reserved.delivery);
		if (priced === "wait") {
			schedule(clockMs + retryMs, () => fill(swap));
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
		simulateFill(swap.id, { order, delivery, minOutput, inventory: inventory.held(idOf(paidSide(swap))) });
	}

	function simulated(id: number, simulation: FillSimulation, atMs: Milliseconds): void {
		advance(atMs);
		const [swap, priced] = [swaps.get(id), simulating.get(id)];
		if (!swap || !priced) throw new RangeError(`no simulation of swap ${id} was asked for`);
		simulating.delete(id);
		swap.simulation = simulation.outcome;
		tell({ kind: "simulated", swap: id, ...simulation });
		if (simulation.outcome === "failed") refund(swap, `the fill would fail: ${simulation.reason}`);
		else deliver(swap, priced);
	}

	/** Books a fill at the current prices. */
	function deliver(swap: PaperSwap, { delivery, output }: PricedFill): void {
		const { order } = swap.quote;
		const { reserved } = swap;
		if (!reserved) throw new RangeError(`swap ${swap.id} is filled before its submit`);
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
				...move(given, { ...idOf(paid), from: "inventory", to: isBought ? "market" : "callers" }),
				...(isBought ? move(output, { ...idOf(swap.destination), from: "market", to: "callers" }) : []),
				...move(order.inputAmount, { ...idOf(swap.origin), from: "callers", to: "escrow" }),
			],
		});
		pay(swap, "fill", swap.destination);
		if (swap.isSameChain) {
			release(swap);
			return;
		}
		const { chainId, finalitySeconds } = swap.destination.chain;
		schedule(clockMs + 1_000 * (priceCache.blockSeconds(chainId) + finalitySeconds), () => release(swap));
	}

	/** Prices the fill like the lane that would sign it now. Returns the reason if it is given up. */
	function priceFill(
		swap: PaperSwap,
		promised: Delivery,
	): PricedFill | "wait" | "the price moved" | "no fill in time" {
		const { order } = swap.quote;
		if (clockMs > 1_000 * Number(unpackDeadlines(order.deadlines).fillDeadline)) return "no fill in time";
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
			legs: move(swap.quote.order.inputAmount, { ...idOf(swap.origin), from: "escrow", to: "inventory" }),
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
		const isFinal = (openedMs = 0) => clockMs >= openedMs + 1_000 * chain.finalitySeconds;
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

	function replenish(): void {
		for (const legs of replenishEntries({
			priceCache,
			inventory,
			chains,
			replenishBps: terms.replenishBps,
		})) {
			post({ memo: "replenish", gainE18: 0n, legs } satisfies Entry);
		}
	}
}

function withoutReading({ reading: _, ...prices }: BlockPrices): BlockPrices {
	return prices;
}

function idOf({ chain, asset }: Side): { chainId: number; token: Side["asset"]["address"] } {
	return { chainId: chain.chainId, token: asset.address };
}

function reasonOf({ code, details }: SwapError): string {
	return details && "reason" in details ? `${code} ${String(details.reason)}` : code;
}
