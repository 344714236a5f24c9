import { type Milliseconds, type QuoteRequest, SwapError } from "@geoswap/protocol";
import type { BlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import type { Config } from "../../config/config.ts";
import { createDesk } from "../../desk/create-desk.ts";
import type { Repriced } from "../../desk/desk.ts";
import { deskChains } from "../../desk/desk-chain.ts";
import { configPriceCache } from "../../desk/price/config-price-cache.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import type { PriceNews } from "../../desk/price/price-news.ts";
import { hashedRandom } from "./generate-requests.ts";
import type { Holding, JournalLine, ShadowTerms, UntimedLine } from "./journal.ts";
import { createPaperInventory } from "./paper-inventory.ts";
import { createPaperLanes } from "./paper-lanes.ts";
import {
	createPaperLedger,
	move,
	type PaperSwap,
	paperSwap,
	tokenIdOf,
	volumeInFlight,
} from "./paper-ledger.ts";
import { replenishEntries } from "./replenish.ts";
import type { ShadowReport } from "./shadow-report.ts";
import type { FillSimulation, PaperFill } from "./simulate-fill.ts";
import { sumUp } from "./sum-up.ts";

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
	const tell = (line: UntimedLine) => write({ ...line, atMs: clockMs } as JournalLine);
	const books = createPaperLedger({ write: (entry) => tell({ kind: "entry", ...entry }) });
	const swaps = new Map<number, PaperSwap>();
	/** Requests that became no swap, by reason. */
	const refusals = new Map<string, number>();
	let requests = 0;
	const due: { atMs: Milliseconds; run: () => void }[] = [];
	const { inventory, post } = createPaperInventory({ books, opening });
	const lanes = createPaperLanes({
		config,
		desk,
		priceCache,
		inventory,
		post,
		swaps,
		nowMs: () => clockMs,
		schedule,
		tell,
		simulateFill,
	});

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
		simulated: (swap, simulation, atMs) => {
			advance(atMs);
			lanes.simulated(swap, simulation);
		},
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
			tell({
				kind: "quoted",
				swap: id,
				input: { ...tokenIdOf(swap.origin), amount: quote.order.inputAmount },
				output: { ...tokenIdOf(swap.destination), amount: quote.output },
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
		const { order, delivery } = swap.quote;
		const underWay = [...swaps.values()].filter(({ state }) => state === "submitted");
		const inFlight = volumeInFlight(underWay, desk.volumes({ order, delivery }));
		const repriced = desk.reprice(swap.quote, inFlight);
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
		schedule(clockMs + 1_000 * priceCache.blockSeconds(swap.origin.chain.chainId), () => lanes.open(swap));
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

	function replenish(): void {
		for (const legs of replenishEntries({
			priceCache,
			inventory,
			chains,
			replenishBps: terms.replenishBps,
		})) {
			post({ memo: "replenish", gainE18: 0n, legs });
		}
	}
}

function withoutReading({ reading: _, ...prices }: BlockPrices): BlockPrices {
	return prices;
}

function reasonOf({ code, details }: SwapError): string {
	return details && "reason" in details ? `${code} ${String(details.reason)}` : code;
}
