import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChainDeployment } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, type Hash, numberToHex, zeroHash } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { noL1Rates } from "../../chain/evm/fee/fee-model.ts";
import type { FeedAnswer, SequencerStatus } from "../../chain/evm/read/light-call.ts";
import type { Config } from "../../config/config.ts";
import { createLog } from "../../telemetry/log.ts";
import { createStopTeller } from "./keep-prices.ts";
import { keepPyth, readPyth } from "./keep-pyth.ts";
import { createPriceCache } from "./price-cache.ts";
import { describeStop } from "./price-stop.ts";
import { createPythPrices } from "./pyth-prices.ts";

const now = 1_800_000_000;
const nowMs = now * 1_000;
const at = (n: number): Address => numberToHex(n, { size: 20 });
const [usdc, weth, gem] = [at(1), at(2), at(3)];
const id = (n: number): Hash => numberToHex(n, { size: 32 });
const e18 = 10n ** 18n;
const terms = { maxAgeSeconds: 30, maxConfidenceBps: 50, deviationBps: 200, isRequired: false };
const usual = { confidenceE18: e18 / 10_000n, publishedAtUnixSeconds: now - 2 };

const deployment = {
	chainId: 10,
	kind: "eip1559",
	settlementToken: usdc,
	assets: [
		{ symbol: "USDC", address: usdc, decimals: 6, kind: "stable", feed: feed(21), paths: [] },
		{
			symbol: "WETH",
			address: weth,
			decimals: 18,
			kind: "volatile",
			feed: feed(22),
			pythId: id(2),
			paths: [[500]],
		},
		{ symbol: "GEM", address: gem, decimals: 18, kind: "volatile", pythId: id(3), paths: [[500]] },
	],
} as unknown as ChainDeployment;

function feed(n: number) {
	return { address: at(n), heartbeatSeconds: 3_600 };
}

/** Creates a price cache with one block, in which all pools agree with the references. */
function priceCacheOf({
	pyth = createPythPrices(terms, { nowMs: () => nowMs }),
	usd = { weth: 2_000n, gem: 5n },
	...block
}: {
	pyth?: ReturnType<typeof createPythPrices> | undefined;
	usd?: { weth: bigint; gem: bigint };
	sequencer?: SequencerStatus;
} = {}) {
	const priceCache = createPriceCache({
		chains: [deployment],
		feedMarginBps: 10,
		feedDeviationBps: 300,
		sequencerGraceSeconds: 3_600,
		pythPrices: pyth,
	});
	const answer = (price: bigint): FeedAnswer => ({ usdE18: price * e18, updatedAtUnixSeconds: now - 60 });
	const priced = (price: bigint, reference: FeedAnswer) => ({
		feed: reference,
		buy: [{ fees: [500], rungs: [{ input: 10n ** 9n, output: (1_000n * e18) / price }] }],
		sell: [{ fees: [500], rungs: [{ input: e18, output: price * 10n ** 6n }] }],
	});
	priceCache.update(
		{
			chainId: 10,
			blockHash: zeroHash,
			blockNumber: 1,
			timestampUnixSeconds: now,
			tipReadAtUnixSeconds: now,
			fees: { baseFee: 0n, tip: 0n, l1: noL1Rates },
			assets: new Map([
				[usdc, { feed: answer(1n), buy: [], sell: [] }],
				[weth, priced(usd.weth, answer(usd.weth))],
				[gem, priced(usd.gem, pyth.answerOf(id(3)) ?? { usdE18: 0n, updatedAtUnixSeconds: 0 })],
			]),
			feeds: new Map(),
			...block,
		},
		{ nowMs },
	);
	return priceCache;
}

function stopOf(
	priceCache: ReturnType<typeof priceCacheOf>,
	asset: Address,
	atMs = nowMs,
): string | undefined {
	const stop = priceCache.stopOf({ chainId: 10, asset }, { nowMs: atMs });
	return stop && describeStop(stop);
}

function pythWith(prices: [number, Partial<typeof usual> & { usdE18: bigint }][], changes = {}) {
	const pyth = createPythPrices({ ...terms, ...changes }, { nowMs: () => nowMs });
	pyth.update(new Map(prices.map(([n, price]) => [id(n), { ...usual, ...price }])));
	return pyth;
}

describe("two references", () => {
	test("that differ by more than the bound stop the asset by name, and by no more do not", () => {
		fc.assert(
			fc.property(fc.bigInt(1_000n, 4_000n), fc.bigInt(1_000n, 4_000n), (feedUsd, pythUsd) => {
				const priceCache = priceCacheOf({
					pyth: pythWith([[2, { usdE18: pythUsd * e18 }]]),
					usd: { weth: feedUsd, gem: 5n },
				});
				const apart = feedUsd > pythUsd ? feedUsd - pythUsd : pythUsd - feedUsd;
				const differ = apart * 10_000n > 200n * feedUsd;
				expect(stopOf(priceCache, weth)).toBe(differ ? "two reference prices of WETH differ" : undefined);
				expect(stopOf(priceCache, usdc)).toBeUndefined();
			}),
		);
	});

	test("are compared only while the second is fresh and certain; without it the feed alone counts", () => {
		const wrong = { usdE18: 1_000n * e18 };
		expect(stopOf(priceCacheOf({ pyth: pythWith([[2, wrong]]) }), weth)).toBe(
			"two reference prices of WETH differ",
		);
		const none = [
			{ publishedAtUnixSeconds: now - 31 },
			{ publishedAtUnixSeconds: now + 31 },
			{ confidenceE18: 6n * e18 },
		];
		for (const useless of none) {
			const pyth = (changes = {}) => pythWith([[2, { ...wrong, ...useless }]], changes);
			expect(stopOf(priceCacheOf({ pyth: pyth() }), weth)).toBeUndefined();
			expect(stopOf(priceCacheOf({ pyth: pyth({ isRequired: true }) }), weth)).toBe(
				"the second reference price of WETH is missing",
			);
		}
	});

	test("have the difference that the metric reports, rounded up", () => {
		const priceCache = priceCacheOf({ pyth: pythWith([[2, { usdE18: 2_001n * e18 + 1n }]]) });
		expect(priceCache.referencesApartBps({ chainId: 10, asset: weth }, { nowMs })).toBe(6);
		expect(priceCache.referencesApartBps({ chainId: 10, asset: gem }, { nowMs })).toBeUndefined();
		expect(
			priceCache.referencesApartBps({ chainId: 10, asset: weth }, { nowMs: nowMs + 60_000 }),
		).toBeUndefined();
	});
});

test("an asset without a feed has Pyth's price until it is too old", () => {
	const priceCache = priceCacheOf({ pyth: pythWith([[3, { usdE18: 5n * e18 }]]) });
	expect(stopOf(priceCache, gem)).toBeUndefined();
	expect(priceCache.reference({ chainId: 10, asset: gem }).usdE18).toBe(5n * e18);
	expect(stopOf(priceCacheOf(), gem)).toBe("the feed of GEM is stale");
	const older = priceCacheOf({
		pyth: pythWith([[3, { usdE18: 5n * e18, publishedAtUnixSeconds: now - 25 }]]),
	});
	expect(stopOf(older, gem)).toBeUndefined();
	expect(stopOf(older, gem, nowMs + 6_000)).toBe("the feed of GEM is stale");
});

test("a price that is uncertain, older or in the future does not replace a good one", () => {
	const pyth = pythWith([[3, { usdE18: 5n * e18 }]]);
	pyth.update(new Map([[id(3), { ...usual, usdE18: 9n * e18, confidenceE18: e18 }]]));
	pyth.update(new Map([[id(3), { ...usual, usdE18: 8n * e18, publishedAtUnixSeconds: now - 9 }]]));
	pyth.update(new Map([[id(3), { ...usual, usdE18: -1n }]]));
	pyth.update(new Map([[id(3), { ...usual, usdE18: 7n * e18, publishedAtUnixSeconds: now + 9_999 }]]));
	expect(pyth.answerOf(id(3))?.usdE18).toBe(5n * e18);
});

describe("a rollup's assets are stopped", () => {
	const all = (sequencer: SequencerStatus) => {
		const priceCache = priceCacheOf({ pyth: pythWith([[3, { usdE18: 5n * e18 }]]), sequencer });
		return [...new Set([usdc, weth, gem].map((asset) => stopOf(priceCache, asset)))];
	};

	test("while its sequencer is down, and for an hour after it is up again", () => {
		const down = "the sequencer of the chain that its feed is on is down";
		const back = "the sequencer of the chain that its feed is on was down until recently";
		expect(all({ isUp: false, sinceUnixSeconds: now - 86_400 })).toEqual([down]);
		expect(all({ isUp: true, sinceUnixSeconds: now - 3_599 })).toEqual([back]);
		expect(all({ isUp: true, sinceUnixSeconds: now - 3_600 })).toEqual([undefined]);
	});
});

test("an asset that stops is logged once with the reason, and once more when it is quoted again", () => {
	const lines: [string, object, string][] = [];
	const log = {
		warn: (fields: object, message: string) => lines.push(["warn", fields, message]),
		info: (fields: object, message: string) => lines.push(["info", fields, message]),
	};
	const pyth = pythWith([
		[2, { usdE18: 1_000n * e18 }],
		[3, { usdE18: 5n * e18 }],
	]);
	const config = { chains: [{ kind: "evm", chainId: 10, deployment }] } as unknown as Config;
	const tell = createStopTeller({ config, priceCache: priceCacheOf({ pyth }), log: log as never });
	tell(nowMs);
	tell(nowMs + 1_000);
	expect(lines).toEqual([
		[
			"warn",
			{ chainId: 10, symbol: "WETH", because: "two reference prices of WETH differ" },
			"the asset is not quoted until its price is certain again",
		],
	]);
	pyth.update(new Map([[id(2), { ...usual, usdE18: 2_000n * e18, publishedAtUnixSeconds: now }]]));
	tell(nowMs + 2_000);
	expect(lines[1]).toEqual(["info", { chainId: 10, symbol: "WETH" }, "the asset is quoted again"]);
	// A chain with old prices is logged once.
	tell(nowMs + 120_000);
	expect(lines).toHaveLength(2);
});

describe("a model of Pyth's web service", () => {
	let server: Server;
	let url: string;
	let answer: { status: number; body: string };
	let requests: IncomingMessage[] = [];
	beforeAll(async () => {
		server = createServer((request, response) => {
			requests.push(request);
			if (answer.status === 0) return;
			response.writeHead(answer.status, { "content-type": "application/json", location: "/elsewhere" });
			response.end(answer.body);
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	});
	beforeEach(() => {
		requests = [];
		answer = { status: 200, body: bodyOf({}) };
	});
	afterAll(() => {
		server.closeAllConnections();
		server.close();
	});

	const { signal } = new AbortController();
	const read = (changes = {}) =>
		readPyth({ url, ids: [id(2), id(3)], key: "the-key", timeoutMs: 10_000, signal, ...changes });

	function bodyOf(price: object): string {
		const whole = { price: "200012345678", conf: "20000000", expo: -8, publish_time: now, ...price };
		const binary = { encoding: "hex", data: ["00"] };
		return JSON.stringify({
			binary,
			parsed: [{ id: id(2).slice(2), price: whole, ema_price: whole, metadata: {} }],
		});
	}

	test("gets one request for all ids, with the key in a header, and its prices get 18 decimals", async () => {
		expect(await read()).toEqual(
			new Map([
				[
					id(2),
					{
						usdE18: 2_000_123_456_780_000_000_000n,
						confidenceE18: 2n * 10n ** 17n,
						publishedAtUnixSeconds: now,
					},
				],
			]),
		);
		const asked = new URL(requests[0]?.url ?? "", url);
		expect(asked.pathname).toBe("/v2/updates/price/latest");
		expect(asked.searchParams.getAll("ids[]")).toEqual([id(2), id(3)]);
		expect(requests[0]?.headers.authorization).toBe("Bearer the-key");
		await read({ url: `${url}/hermes/`, key: undefined });
		expect(requests[1]?.url).toMatch(/^\/hermes\/v2\/updates\//);
		expect(requests[1]?.headers.authorization).toBeUndefined();
		answer.body = bodyOf({ price: "3", conf: "0", expo: 2 });
		expect((await read()).get(id(2))?.usdE18).toBe(300n * e18);
	});

	test.each([
		["refuses the key", { status: 401, body: "{}" }],
		["redirects to another host", { status: 302, body: "" }],
		["does not answer in time", { status: 0, body: "" }],
		["answers something else", { status: 200, body: '{"parsed":[{"id":"x"}]}' }],
		["gives a price that is no number", { status: 200, body: bodyOf({ price: "1e9" }) }],
	])("is an error if it %s, and the error does not contain the key", async (_, bad) => {
		answer = bad;
		const error: unknown = await read(bad.status === 0 ? { timeoutMs: 100 } : {}).catch(
			(reason: unknown) => reason,
		);
		expect(error).toBeInstanceOf(Error);
		expect(JSON.stringify([String(error), error])).not.toContain("the-key");
	});

	test("is requested again after it failed, and its last prices are kept", async () => {
		const prices = createPythPrices(terms, { nowMs: () => nowMs });
		const stopping = new AbortController();
		const log = createLog({ level: "silent", process: "test" });
		const warned = vi.spyOn(log, "warn");
		const told = vi.spyOn(log, "info");
		const pyth = { url, pollMs: 5, timeoutMs: 10_000 };
		const kept = keepPyth({ pyth, key: undefined, ids: [id(2)], prices, signal: stopping.signal, log });
		await vi.waitFor(() => expect(prices.answerOf(id(2))).toBeDefined());
		answer.status = 503;
		const before = requests.length;
		await vi.waitFor(() => expect(requests.length).toBeGreaterThan(before + 3));
		expect(warned).toHaveBeenCalledTimes(1);
		answer = { status: 200, body: bodyOf({ publish_time: now + 5 }) };
		await vi.waitFor(() => expect(prices.answerOf(id(2))?.updatedAtUnixSeconds).toBe(now + 5));
		expect(told).toHaveBeenCalledTimes(1);
		stopping.abort();
		await kept;
	});
});
