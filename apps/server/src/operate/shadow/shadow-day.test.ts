import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { generatedConfig, generatedPrices } from "../../../test/shadow/generated-day.ts";
import { configBook } from "../../desk/price/config-book.ts";
import { formatReport, reportToJson } from "./format-report.ts";
import { generateRequests } from "./generate-requests.ts";
import type { Holding, JournalLine, ShadowTerms } from "./journal.ts";
import { createJournalFile, readJournal } from "./journal-file.ts";
import { equalStock } from "./opening-stock.ts";
import { type RecordedDay, runRecordedDay } from "./run-recorded-day.ts";
import type { ShadowReport } from "./shadow-report.ts";
import { verifyJournal } from "./verify-journal.ts";

// Every day here is generated from a seed: no chain has seen these prices.

const startMs = Date.UTC(2027, 0, 4);
const config = generatedConfig();
const terms: ShadowTerms = { acceptMs: 10_000, restockEveryMs: 6 * 3_600_000, restockBps: 10 };
/** Block time of the generated chains. Prices older than a minute are stale. */
const everySeconds = process.env.GEOSWAP_FULL ? 12 : 50;

function stockWorth(usd: number): Holding[] {
	const book = configBook(config);
	for (const { prices, atMs } of generatedPrices({ seed: "stock", startMs, hours: 0.02, everySeconds })) {
		book.update(prices, { nowMs: atMs });
	}
	return equalStock(usd, { config, book });
}

function generatedDay({
	seed,
	hours,
	perHour = 30,
	stock = stockWorth(100_000),
	crash,
	...own
}: {
	seed: string;
	hours: number;
	perHour?: number;
	stock?: Holding[];
	crash?: { atMs: number; factor: number };
	terms?: ShadowTerms;
}): RecordedDay {
	return {
		config,
		prices: generatedPrices({ seed, startMs, hours, everySeconds, ...(crash && { crash }) }),
		requests: generateRequests({ config, seed, perHour, startMs }),
		stock,
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

/** Returns what happened to the swaps: everything but prices, requests and books. */
function decisions(lines: readonly JournalLine[]): JournalLine[] {
	const others = new Set(["start", "prices", "request", "entry", "end"]);
	return lines.filter(({ kind }) => !others.has(kind));
}

test("the sums of a recorded day, recomputed from its prices alone, equal its books' to the unit", () => {
	const { report, lines } = run(generatedDay({ seed: "1", hours: 24 }));
	expect(report.filled).toBeGreaterThan(500);
	const withoutBooks = lines.filter(({ kind }) => kind !== "entry");
	const { recomputed, differences } = verifyJournal(withoutBooks);
	expect(differences).toEqual([]);
	expect(recomputed.netE18).toBe(report.netE18);
	expect(recomputed.earnedE18).toBe(report.earnedE18);
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

test("for any seed, stock, restocking and crash, the recomputed sums equal the books'", () => {
	const days = fc.record({
		seed: fc.string({ minLength: 1, maxLength: 8 }),
		stockUsd: fc.constantFrom(2_000, 20_000, 500_000),
		restockMinutes: fc.integer({ min: 5, max: 120 }),
		restockBps: fc.integer({ min: 0, max: 200 }),
		factor: fc.constantFrom(0.9, 0.98, 1, 1.05),
	});
	fc.assert(
		fc.property(days, ({ seed, stockUsd, restockMinutes, restockBps, factor }) => {
			const { report, lines } = run(
				generatedDay({
					seed,
					hours: 0.5,
					perHour: 200,
					stock: stockWorth(stockUsd),
					terms: { acceptMs: 5_000, restockEveryMs: restockMinutes * 60_000, restockBps },
					crash: { atMs: startMs + 900_000, factor },
				}),
			);
			expect(report.requests).toBeGreaterThan(50);
			expect(verifyJournal(lines.filter(({ kind }) => kind !== "entry")).differences).toEqual([]);
			for (const { leastFree } of report.stock) expect(leastFree).toBeGreaterThanOrEqual(0n);
		}),
		// A day takes too long to be made smaller again and again.
		{ numRuns: process.env.GEOSWAP_FULL ? 100 : 6, endOnFailure: true },
	);
});

test("a sum of the books that is one unit off is found, and so is a changed price", () => {
	const { lines } = run(generatedDay({ seed: "2", hours: 1, perHour: 60 }));
	expect(verifyJournal(lines).differences).toEqual([]);
	const off = lines.map((line) =>
		line.kind === "end" ? { ...line, report: { ...line.report, netE18: line.report.netE18 + 1n } } : line,
	);
	expect(verifyJournal(off).differences).toMatchObject([expect.stringMatching(/^netE18: the books have/)]);
	const dearer = lines.map((line) => {
		if (line.kind !== "prices") return line;
		const assets = new Map(
			[...line.prices.assets].map(([token, asset]) => [
				token,
				{ ...asset, feed: { ...asset.feed, usdE18: asset.feed.usdE18 + 10n ** 12n } },
			]),
		);
		return { ...line, prices: { ...line.prices, assets } };
	});
	expect(verifyJournal(dearer).differences).not.toEqual([]);
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

test("a swap for which there is too little stock is refused, and the report says how much would have sufficed", () => {
	const day = (usd: number) =>
		run(generatedDay({ seed: "5", hours: 1, perHour: 100, stock: stockWorth(usd) })).report;
	const [poor, rich] = [day(500), day(1_000_000)];
	expect(poor.refusals["submit: too little stock"]).toBeGreaterThan(0);
	expect(rich.refusals["submit: too little stock"]).toBeUndefined();
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
