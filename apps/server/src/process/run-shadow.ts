import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { BlockPrices } from "../chain/evm/read/read-block-prices.ts";
import { evmChains } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { readConfig } from "../config/read-config.ts";
import { configPriceCache } from "../desk/price/config-price-cache.ts";
import { keepPrices } from "../desk/price/keep-prices.ts";
import type { PriceNews } from "../desk/price/price-news.ts";
import type { ShadowOptions } from "../operate/shadow/define-shadow-commands.ts";
import { generateRequests, readRequests, type TimedRequest } from "../operate/shadow/generate-requests.ts";
import {
	createJournalFile,
	type Holding,
	type JournalLine,
	readJournal,
	type ShadowTerms,
} from "../operate/shadow/journal.ts";
import { equalInventory, readInventory } from "../operate/shadow/paper-inventory.ts";
import { runRecordedDay } from "../operate/shadow/run-recorded-day.ts";
import { createShadowDay } from "../operate/shadow/shadow-day.ts";
import { formatReport, reportToJson, type ShadowReport } from "../operate/shadow/shadow-report.ts";
import { createFillSimulator } from "../operate/shadow/simulate-fill.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { connectApiChains } from "./connect-api-chains.ts";

const dayMs = 86_400_000;
/** How often due work is done between two blocks. */
const tickMs = 200;

/** Runs the service on paper, with no transaction sent. It reads no secret and needs only the chains' nodes. */
export async function runShadow(options: ShadowOptions): Promise<void> {
	const config = offeredToAll(readConfig(options.config));
	if (options.requests !== undefined && options.generate !== undefined) {
		throw new ConfigError("--generate", "requests are either read from a file or made up; choose one");
	}
	const seed = options.generate ?? randomBytes(4).toString("hex");
	const plan = { config, options, seed, terms: termsOf(options) };
	if (options.prices !== undefined) {
		const report = await replay(options.prices, plan);
		return publish(report, options, 1);
	}
	await runLive(plan);
}

/**
 * Returns the configuration with all chains offered, because the day should show what a chain earns before it is
 * offered.
 */
function offeredToAll(config: Config): Config {
	return { ...config, chains: config.chains.map(({ onlyAccounts: _, ...chain }) => chain) };
}

type Plan = { config: Config; options: ShadowOptions; seed: string; terms: ShadowTerms };

function termsOf({ acceptSeconds, replenishHours, replenishBps }: ShadowOptions): ShadowTerms {
	return { acceptMs: acceptSeconds * 1_000, replenishEveryMs: replenishHours * 3_600_000, replenishBps };
}

/** Plays a recorded day again, under the current configuration. */
async function replay(path: string, { config, options, seed, terms }: Plan): Promise<ShadowReport> {
	const lines = await readJournal(path);
	const prices = lines.filter(isPriceNews);
	const [first, last] = [prices[0], lines.at(-1)];
	if (!first || !last) throw new ConfigError(path, "has no prices");
	const startMs = lines[0]?.atMs ?? first.atMs;
	const isRecorded = options.requests === undefined && options.generate === undefined;
	const requests = isRecorded
		? lines.flatMap((line): TimedRequest[] =>
				line.kind === "request" ? [{ atMs: line.atMs, request: () => line.request }] : [],
			)
		: requestsOf({ config, options, seed, startMs });
	const journal = createJournalFile(options.journal);
	try {
		return runRecordedDay(
			{
				config,
				prices,
				requests,
				inventory: openingOf({ config, options, latest: firstBlocks(prices) }),
				terms,
				seed,
				source: `Prices recorded in ${path}, ${isRecorded ? "and its requests" : wordsFor(options, seed)}.`,
				startMs,
				endMs: last.atMs,
			},
			journal,
		);
	} finally {
		journal.close();
	}
}

async function runLive(plan: Plan): Promise<void> {
	const { config, options } = plan;
	const log = createLog({
		level: config.logLevel,
		process: "shadow",
		write: (line) => process.stderr.write(line),
	});
	const stopping = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
	const { chains } = await connectApiChains(config, { signal: stopping.signal, log });
	const simulate = createFillSimulator(chains);
	const latest: LatestNews = new Map();
	let onNews: ((news: PriceNews) => void) | undefined;
	const { kept } = keepPrices({
		config,
		chains: [...chains.values()],
		nowMs: Date.now,
		signal: stopping.signal,
		log,
		record: (news) => {
			latest.set(sourceOf(news), news);
			onNews?.(news);
		},
	});
	for (let day = 1; day <= Math.ceil(options.days) && !stopping.signal.aborted; day++) {
		const lastsMs = Math.min(options.days - day + 1, 1) * dayMs;
		const report = await runLiveDay(plan, {
			day,
			lastsMs,
			latest,
			simulate,
			listen: (listener) => {
				onNews = listener;
			},
			signal: stopping.signal,
			log,
		});
		if (report) publish(report, options, day);
	}
	stopping.abort();
	await kept;
}

async function runLiveDay(
	{ config, options, seed, terms }: Plan,
	{
		day,
		lastsMs,
		latest,
		simulate,
		listen,
		signal,
		log,
	}: {
		day: number;
		lastsMs: Milliseconds;
		latest: LatestNews;
		simulate: ReturnType<typeof createFillSimulator>;
		listen: (listener: ((news: PriceNews) => void) | undefined) => void;
		signal: AbortSignal;
		log: Log;
	},
): Promise<ShadowReport | undefined> {
	const wanted = evmChains(config);
	while (!signal.aborted && wanted.some(({ chainId }) => !latest.has(`chain ${chainId}`)))
		await pause(signal);
	if (signal.aborted) return undefined;
	const startMs = Date.now();
	const path = numbered(options.journal, day);
	const journal = createJournalFile(path);
	let isEnded = false;
	/** Simulations that were requested and have not returned. */
	const asked = new Set<Promise<void>>();
	const shadow = createShadowDay({
		config,
		inventory: openingOf({ config, options, latest: firstBlocks([...latest.values()]) }),
		terms,
		seed: `${seed}/${day}`,
		source: `Prices of live chains, ${wordsFor(options, seed)}.`,
		startMs,
		simulateFill: (swap, fill) => {
			const answered = simulate(fill).then((simulation) => {
				asked.delete(answered);
				if (!isEnded) shadow.simulated(swap, simulation, Date.now());
			});
			asked.add(answered);
		},
		write: journal.write,
	});
	for (const news of latest.values()) shadow.learn(news, startMs);
	listen((news) => shadow.learn(news, Date.now()));
	log.info({ journal: path, day }, "a shadow day begins");
	const requests = requestsOf({ config, options, seed: `${seed}/${day}`, startMs })[Symbol.iterator]();
	let next = requests.next();
	while (!signal.aborted && Date.now() < startMs + lastsMs) {
		const nowMs = Date.now();
		for (; !next.done && next.value.atMs <= nowMs; next = requests.next()) {
			shadow.request(next.value.request(shadow.priceCache), nowMs);
		}
		shadow.advance(nowMs);
		await pause(signal);
	}
	listen(undefined);
	// Fills that become due meanwhile count as unfinished.
	await Promise.all(asked);
	isEnded = true;
	const report = shadow.end(Date.now());
	journal.close();
	log.info({ journal: path, day, filled: report.filled }, "a shadow day ended");
	return report;
}

async function pause(signal: AbortSignal): Promise<void> {
	await sleep(tickMs, undefined, { signal }).catch(() => {});
}

function requestsOf({
	config,
	options,
	seed,
	startMs,
}: Omit<Plan, "terms"> & { startMs: Milliseconds }): Iterable<TimedRequest> {
	if (options.requests !== undefined) return readRequests(options.requests, { startMs });
	return generateRequests({ config, seed, perHour: options.perHour, startMs });
}

function openingOf({
	config,
	options,
	latest,
}: Pick<Plan, "config" | "options"> & { latest: readonly BlockPrices[] }): Holding[] {
	if (options.inventory !== undefined) return readInventory(options.inventory, config);
	const { priceCache } = configPriceCache(config, { nowMs: Date.now });
	for (const prices of latest) priceCache.update(prices, { nowMs: prices.timestampUnixSeconds * 1_000 });
	return equalInventory(options.inventoryUsd, { config, priceCache });
}

/** The last news of each source. */
type LatestNews = Map<string, PriceNews>;

function sourceOf(news: PriceNews): string {
	if (news.kind === "prices") return `chain ${news.prices.chainId}`;
	return news.kind === "pyth" ? "pyth" : `quoter ${news.asset} ${news.direction}`;
}

function isPriceNews(line: JournalLine): line is Extract<JournalLine, PriceNews> {
	return line.kind === "prices" || line.kind === "pyth" || line.kind === "quoter";
}

/** Returns the first block of each chain. */
function firstBlocks(news: readonly PriceNews[]): BlockPrices[] {
	const blocks = news.flatMap((one) => (one.kind === "prices" ? [one.prices] : []));
	return [...new Map(blocks.toReversed().map((block) => [block.chainId, block])).values()];
}

function wordsFor({ requests, perHour }: ShadowOptions, seed: string): string {
	return requests === undefined
		? `requests made up from the seed ${seed}, ${perHour} per hour`
		: `requests of ${requests}`;
}

function publish(report: ShadowReport, { report: path, json }: ShadowOptions, day: number): void {
	console.log(json ? reportToJson(report) : formatReport(report));
	if (path === undefined) return;
	const text = path.endsWith(".json") ? reportToJson(report) : formatReport(report);
	writeFileSync(numbered(path, day), `${text}\n`);
}

/** Returns the path for a day. The first day has the given name, later ones a number before the ending. */
function numbered(path: string, day: number): string {
	return day === 1 ? path : path.replace(/(\.[^./]*)?$/, `-${day}$1`);
}
