import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toSolanaWord } from "@geoswap/protocol";
import fc from "fast-check";
import type { Hash } from "viem";
import { expect, test } from "vitest";
import { generatedConfig, generatedPrices } from "../../../test/shadow/generated-day.ts";
import { solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { configPriceCache } from "../../desk/price/config-price-cache.ts";
import type { PriceNews } from "../../desk/price/price-news.ts";
import { generateRequests } from "./generate-requests.ts";
import {
	createJournalFile,
	type Holding,
	type JournalLine,
	readJournal,
	type ShadowTerms,
} from "./journal.ts";
import { equalInventory } from "./paper-inventory.ts";
import type { PaperAccount } from "./paper-ledger.ts";
import { type RecordedDay, runRecordedDay } from "./run-recorded-day.ts";
import { createShadowDay } from "./shadow-day.ts";
import { formatReport, reportToJson, type ShadowReport } from "./shadow-report.ts";
import type { FillSimulation } from "./simulate-fill.ts";

// Every day here is generated from a seed, with prices that no chain had.

const startMs = Date.UTC(2027, 0, 4);
const config = generatedConfig();
const terms: ShadowTerms = { acceptMs: 10_000, replenishEveryMs: 6 * 3_600_000, replenishBps: 10 };
/** Block time of the generated chains. Prices older than a minute are stale. */
const everySeconds = process.env.GEOSWAP_FULL ? 12 : 50;

function inventoryWorth(usd: number): Holding[] {
	const { priceCache } = configPriceCache(config, { nowMs: () => startMs });
	for (const { prices, atMs } of generatedPrices({ seed: "inventory", startMs, hours: 0.02, everySeconds })) {
		priceCache.update(prices, { nowMs: atMs });
	}
	return equalInventory(usd, { config, priceCache });
}

function generatedDay({
	seed,
	hours,
	perHour = 30,
	inventory = inventoryWorth(100_000),
	crash,
	...own
}: {
	seed: string;
	hours: number;
	perHour?: number;
	inventory?: Holding[];
	crash?: { atMs: number; factor: number };
	terms?: ShadowTerms;
}): RecordedDay {
	return {
		config,
		prices: generatedPrices({ seed, startMs, hours, everySeconds, ...(crash && { crash }) }),
		requests: generateRequests({ config, seed, perHour, startMs }),
		inventory,
		terms: own.terms ?? terms,
		seed,
		source: `Prices and requests generated from the seed ${seed}.`,
		startMs,
		endMs: startMs + hours * 3_600_000,
	};
}

function run(day: RecordedDay): { report: ShadowReport; lines: JournalLine[] } {
	const lines: JournalLine[] = [];
	const report = runRecordedDay(day, { write: (line) => lines.push(line) });
	return { report, lines };
}

/** Returns what happened to the swaps, without prices, requests and books. */
function decisions(lines: readonly JournalLine[]): JournalLine[] {
	const others = new Set(["start", "prices", "request", "entry", "end"]);
	return lines.filter(({ kind }) => !others.has(kind));
}

/** Expects each sum of the report to equal that of the journal's lines. */
function expectSumsOfJournal(report: ShadowReport, lines: readonly JournalLine[]): void {
	const entries = lines.flatMap((line) => (line.kind === "entry" ? [line] : []));
	const legs = entries.flatMap((entry) => entry.legs);
	const gains = (of: typeof entries) => of.reduce((sum, { gainE18 }) => sum + gainE18, 0n);
	expect(report.filled).toBe(lines.filter(({ kind }) => kind === "filled").length);
	expect(report.earnedE18).toBe(gains(entries));
	expect(report.feesE18).toBe(
		-gains(entries.filter((entry) => entry.legs.some(({ account }) => account === "chains"))),
	);
	for (const { pair, earnedE18 } of report.pairs)
		expect(earnedE18).toBe(gains(entries.filter((entry) => entry.pair === pair)));
	for (const { chainId, token, end, inEscrow } of report.inventory) {
		const held = (account: PaperAccount) =>
			legs
				.filter((leg) => leg.account === account && leg.chainId === chainId && leg.token === token)
				.reduce((sum, { amount }) => sum + amount, 0n);
		expect([held("inventory"), held("escrow")]).toEqual([end, inEscrow]);
	}
}

test("the sums of a recorded day equal those of its journal", () => {
	const { report, lines } = run(generatedDay({ seed: "1", hours: 24 }));
	expect(report.filled).toBeGreaterThan(500);
	expectSumsOfJournal(report, lines);
	expect(report.earnedE18).toBe(report.pairs.reduce((sum, { earnedE18 }) => sum + earnedE18, 0n));
	expect(report.quoted).toBe(
		report.filled +
			report.refunded +
			report.unfinished +
			Object.entries(report.refusals)
				.filter(([reason]) => reason.startsWith("submit"))
				.reduce((sum, [, count]) => sum + count, 0),
	);
});

test("for any seed, inventory, replenishing and crash, the sums equal those of the journal, and no inventory is used twice", () => {
	const days = fc.record({
		seed: fc.string({ minLength: 1, maxLength: 8 }),
		inventoryUsd: fc.constantFrom(2_000, 20_000, 500_000),
		replenishMinutes: fc.integer({ min: 5, max: 120 }),
		replenishBps: fc.integer({ min: 0, max: 200 }),
		factor: fc.constantFrom(0.9, 0.98, 1, 1.05),
	});
	fc.assert(
		fc.property(days, ({ seed, inventoryUsd, replenishMinutes, replenishBps, factor }) => {
			const { report, lines } = run(
				generatedDay({
					seed,
					hours: 0.5,
					perHour: 200,
					inventory: inventoryWorth(inventoryUsd),
					terms: { acceptMs: 5_000, replenishEveryMs: replenishMinutes * 60_000, replenishBps },
					crash: { atMs: startMs + 900_000, factor },
				}),
			);
			expect(report.requests).toBeGreaterThan(50);
			expectSumsOfJournal(report, lines);
			for (const { minFree } of report.inventory) expect(minFree).toBeGreaterThanOrEqual(0n);
		}),
		// Shrinking is off, because a day takes too long to be repeated many times.
		{ numRuns: process.env.GEOSWAP_FULL ? 100 : 6, endOnFailure: true },
	);
});

const outcomes: [FillSimulation, FillSimulation, FillSimulation] = [
	{ outcome: "succeeded", gasUsed: 100_000n },
	{ outcome: "failed", reason: "EnforcedPause" },
	{ outcome: "not simulated", reason: "the node does not answer" },
];

test("a swap whose fill fails in its simulation is refunded, and the others are filled", () => {
	const lines: JournalLine[] = [];
	const day = generatedDay({ seed: "7", hours: 1, perHour: 120 });
	const asked: number[] = [];
	const shadow = createShadowDay({
		...day,
		simulateFill: (swap, { inventory, minOutput }) => {
			expect(inventory).toBeGreaterThan(0n);
			expect(minOutput).toBeGreaterThan(0n);
			asked.push(swap);
		},
		write: (line) => lines.push(line),
	});
	const requests = day.requests[Symbol.iterator]();
	let next = requests.next();
	for (const { atMs, ...news } of day.prices) {
		for (; !next.done && next.value.atMs < atMs; next = requests.next()) {
			shadow.request(next.value.request(shadow.priceCache), next.value.atMs);
		}
		shadow.learn(news, atMs);
		// Simulations return later than they are requested, in any order.
		for (const swap of asked.splice(0).toReversed()) {
			shadow.simulated(swap, outcomes[swap % 3] ?? outcomes[0], atMs + 100);
		}
	}
	const report = shadow.end(day.endMs);
	expectSumsOfJournal(report, lines);
	const { succeeded, failed, notSimulated } = report.simulations;
	for (const count of [succeeded, failed, notSimulated]) expect(count).toBeGreaterThan(10);
	expect(succeeded + notSimulated).toBe(report.filled);
	expect(failed).toBeLessThanOrEqual(report.refunded);
	const refunds = lines.filter((line) => line.kind === "refunded" && line.reason.includes("EnforcedPause"));
	expect(refunds).toHaveLength(failed);
	expect(formatReport(report)).toContain(`${failed} would have failed and count as refunded`);
	expect(() => shadow.simulated(1, outcomes[0], day.endMs)).toThrow("was requested");
});

/** Returns the configuration with a quoter on Solana, and with Pyth as the second reference of SOL. */
function withOtherSources(): Config {
	const quoter = {
		url: "http://quoter.invalid",
		timeoutMs: 2_000,
		requestsPerSecond: 3,
		maxAgeSeconds: 60,
		marginBps: { stable: 1, volatile: 5 },
		deviationBps: 200,
	};
	const pyth = {
		url: "http://pyth.invalid",
		pollMs: 1_000,
		timeoutMs: 2_000,
		maxAgeSeconds: 60,
		maxConfidenceBps: 50,
		deviationBps: 200,
		isRequired: false,
	};
	const chains = config.chains.map((chain): Config["chains"][number] => {
		if (chain.kind !== "solana") return chain;
		const assets = chain.deployment.assets.map((asset) => ({
			...asset,
			...(asset.symbol === "SOL" && { pythId }),
		}));
		return { ...chain, quoter, deployment: { ...chain.deployment, assets } };
	});
	return { ...config, chains, price: { ...config.price, pyth } };
}

const pythId: Hash = `0x${"11".repeat(32)}`;

/**
 * Adds answers of a quoter and of Pyth to the readings of chains. For a third of the day Pyth differs from the feed.
 */
function* withOtherAnswers(
	prices: Iterable<PriceNews & { atMs: number }>,
	{ chains }: Config,
): Generator<PriceNews & { atMs: number }> {
	const sol = solanaChain({ chains })?.deployment.assets.find(({ symbol }) => symbol === "SOL");
	if (!sol) throw new Error("SOL is offered");
	const asset = toSolanaWord(sol.address);
	let readings = 0;
	for (const news of prices) {
		yield news;
		const feed = news.kind === "prices" ? news.prices.feeds.get(sol.feed.address) : undefined;
		if (!feed) continue;
		readings += 1;
		const atMs = news.atMs + 1;
		const isApart = readings % 30 >= 20;
		const usdE18 = isApart ? (feed.usdE18 * 105n) / 100n : feed.usdE18;
		const answer = { usdE18, confidenceE18: 0n, publishedAtUnixSeconds: Math.floor(atMs / 1_000) };
		yield { kind: "pyth", atMs, answers: new Map([[pythId, answer]]) };
		// At times the quoter does not answer for longer than its answers are valid.
		if (readings % 8 >= 5) continue;
		const usd = [100n, 1_000n, 2_000n];
		const lamports = (value: bigint) => (value * 10n ** 27n) / feed.usdE18;
		const sell = usd.map((value) => ({ input: lamports(value), output: value * 999_800n - value * value }));
		const buy = usd.map((value) => ({
			input: value * 10n ** 6n,
			output: (lamports(value) * 9_997n) / 10_000n,
		}));
		yield { kind: "quoter", atMs, asset, direction: "sell", rungs: sell, askedAtMs: atMs - 500 };
		yield { kind: "quoter", atMs, asset, direction: "buy", rungs: buy, askedAtMs: atMs - 500 };
	}
}

test("a day uses the prices of a quoter on Solana, and of Pyth, which sometimes stops SOL", () => {
	const day = generatedDay({ seed: "8", hours: 2, perHour: 400 });
	const all = withOtherSources();
	const prices = [...withOtherAnswers(day.prices, all)];
	const { report, lines } = run({ ...day, config: all, prices });
	expectSumsOfJournal(report, lines);
	const sold = report.pairs.filter(({ pair }) => pair.startsWith("SOL on Solana"));
	expect(sold.reduce((sum, { filled }) => sum + filled, 0)).toBeGreaterThan(10);
	expect(report.refusals["quote: NO_ROUTE paused"]).toBeGreaterThan(10);
	// Without the quoter's answers the sums differ.
	const without = run({ ...day, config: all, prices: prices.filter(({ kind }) => kind !== "quoter") });
	expect(without.report.earnedE18).not.toBe(report.earnedE18);
});

test("a journal's prices and requests, read from its file, give the same swaps and the same report again", async () => {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-shadow-"));
	try {
		const path = join(folder, "day.jsonl");
		const journal = createJournalFile(path);
		const day = generatedDay({ seed: "3", hours: 1, perHour: 60 });
		const report = runRecordedDay(day, journal);
		journal.close();
		const lines = await readJournal(path);
		const again = run({
			...day,
			prices: lines.flatMap((line) => (line.kind === "prices" ? [line] : [])),
			requests: lines.flatMap((line) =>
				line.kind === "request" ? [{ atMs: line.atMs, request: () => line.request }] : [],
			),
		});
		expect(decisions(again.lines)).toEqual(decisions(lines));
		expect(again.report).toEqual(report);
		expect(() => createJournalFile(path)).toThrow("exists already");
	} finally {
		rmSync(folder, { recursive: true });
	}
});

test("a crash between submit and fill refunds swaps or pays them less, and lists the quotes that would have lost", () => {
	// The crash falls between two readings, so swaps that were quoted before it are filled after it.
	const crash = { atMs: startMs + 1_800_000, factor: 0.93 };
	const { report } = run(generatedDay({ seed: "4", hours: 1, perHour: 240, crash }));
	expect(report.refunded).toBeGreaterThan(0);
	expect(report.losses.ifHonoured.count).toBeGreaterThan(0);
	expect(report.losses.ifHonoured.sumE18).toBeLessThan(report.losses.atFill.sumE18);
	// A refund costs network fees and nothing else.
	expect(report.losses.atFill.sumE18).toBeGreaterThan(-100n * 10n ** 18n);
});

test("a swap for which there is too little inventory is refused, and the report has the amount that would have sufficed", () => {
	const day = (usd: number) =>
		run(generatedDay({ seed: "5", hours: 1, perHour: 100, inventory: inventoryWorth(usd) })).report;
	const [poor, rich] = [day(500), day(1_000_000)];
	expect(poor.refusals["submit: too little inventory"]).toBeGreaterThan(0);
	expect(rich.refusals["submit: too little inventory"]).toBeUndefined();
	expect(rich.filled).toBeGreaterThan(poor.filled);
	expect(rich.neededE18).toBeGreaterThan(poor.neededE18);
});

test("a report reads as text, and as JSON with its amounts as digits", () => {
	const { report } = run(generatedDay({ seed: "6", hours: 0.5, perHour: 60 }));
	expect(formatReport(report)).toContain("Prices and requests generated from the seed 6.");
	expect(JSON.parse(reportToJson(report))).toMatchObject({
		netE18: String(report.netE18),
		filled: report.filled,
	});
});
