import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fromSolanaWord, type SolanaDeployment, solanaNativeToken, toSolanaWord } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { testProgram } from "../../../test/order/test-program.ts";
import type { BlockPrices, Rung } from "../../chain/evm/read/read-block-prices.ts";
import { createLog } from "../../telemetry/log.ts";
import { createFeedPricing } from "./feed-pricing.ts";
import { keepQuoter, readQuoter } from "./keep-quoter.ts";
import { createQuoterLadders, type Direction, type QuoterLadders } from "./quoter-ladders.ts";

const key = (n: number) => fromSolanaWord(numberToHex(n, { size: 32 }));
const [usdc, sol] = [toSolanaWord(key(11)), toSolanaWord(solanaNativeToken)];
const feed = {
	chainId: 1,
	address: numberToHex(21, { size: 20 }),
	heartbeatSeconds: 3_600,
	deviationBps: 50,
};
const solFeed = { ...feed, address: numberToHex(22, { size: 20 }) };
const now = 1_800_000_000;
const terms = { maxAgeSeconds: 10, marginBps: { stable: 1, volatile: 5 }, deviationBps: 200 };
const deployment: SolanaDeployment = {
	chainId: 792703809,
	name: "Solana Test",
	genesisHash: key(1),
	feePayers: [key(2)],
	program: testProgram({ address: key(3), vault: key(4), operator: key(5) }),
	settlementToken: key(11),
	assets: [
		{ symbol: "USDC", address: key(11), decimals: 6, kind: "stable", feed },
		{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed: solFeed },
	],
};

let clockMs = now * 1_000;
beforeEach(() => {
	clockMs = now * 1_000;
});

function ladders(): QuoterLadders {
	return createQuoterLadders(terms, { nowMs: () => clockMs });
}

/** Creates the pricing of Solana with SOL at 150 USD by its feed. */
function pricing(quoter: QuoterLadders | undefined) {
	const answer = (usd: bigint) => ({ usdE18: usd * 10n ** 18n, updatedAtUnixSeconds: now - 60 });
	const block = {
		timestampUnixSeconds: now,
		feeds: new Map([
			[feed.address, answer(1n)],
			[solFeed.address, answer(150n)],
		]),
	} as unknown as BlockPrices;
	const source = { newest: () => block, isReady: () => true, ageMs: () => 0 };
	return createFeedPricing({
		deployment,
		spreadBps: { stable: 5, volatile: 30 },
		feedChains: new Map([[1, source]]),
		references: { sequencerGraceSeconds: 3_600 },
		quoter,
		feedMarginBps: 10,
	});
}

/** Adds a market with SOL at this many hundredths of a USD, which pays less the larger the size. */
function quote(into: QuoterLadders, cents: bigint, impactBps: readonly bigint[] = [1n, 3n, 20n]) {
	const at = (direction: Direction, usd: bigint, impact: bigint): Rung => {
		const input = direction === "buy" ? usd * 10n ** 6n : (usd * 10n ** 11n) / cents;
		const fair = direction === "buy" ? (input * 10n ** 5n) / cents : (input * cents) / 10n ** 5n;
		return { input, output: (fair * (10_000n - impact)) / 10_000n };
	};
	for (const direction of ["buy", "sell"] as const) {
		const rungs = [1_000n, 25_000n, 250_000n].map((usd, i) => at(direction, usd, impactBps[i] ?? 0n));
		into.update(sol, direction, { rungs, askedAtMs: clockMs });
	}
}

const thousand = 1_000_000_000n;
const oneSol = 10n ** 9n;

test("SOL costs the quoter's price plus the margin, without the spread", () => {
	const quoter = ladders();
	const { buy, sell } = pricing(quoter);
	const bySpread = buy({ asset: sol, budget: thousand, inFlight: 0n })?.output;
	expect(bySpread).toBe((((thousand * 1_000n) / 150n) * 9_970n) / 10_000n);
	quote(quoter, 15_000n);
	const fair = (thousand * 1_000n) / 150n;
	const bought = buy({ asset: sol, budget: thousand, inFlight: 0n })?.output ?? 0n;
	expect(Number(bought) / Number(fair)).toBeCloseTo(1 - 0.0006, 6);
	const sold = sell({ asset: sol, amount: oneSol, inFlight: 0n }) ?? 0n;
	expect(Number(sold) / 150e6).toBeCloseTo(1 - 0.0006, 6);
	expect(sell({ asset: usdc, amount: 5n, inFlight: 0n })).toBe(5n);
});

test("if a feed lags behind the market, no swap gets more than the market pays, nor far more than the feed's price", () => {
	const sizes = fc.bigInt(10n ** 6n, 240_000n * 10n ** 6n);
	fc.assert(
		fc.property(fc.bigInt(14_850n, 15_150n), sizes, (cents, budget) => {
			const quoter = ladders();
			quote(quoter, cents);
			const { buy, sell } = pricing(quoter);
			const bought = buy({ asset: sol, budget, inFlight: 0n })?.output ?? 0n;
			// By the market: budget / price, less the margin. By the feed: budget / 150, and a tenth of a percent.
			expect(bought * cents * 10_000n).toBeLessThanOrEqual(budget * 10n ** 5n * 9_995n);
			expect(bought * 150n * 1_000n).toBeLessThanOrEqual(budget * 10n ** 3n * 1_001n);
			const amount = (budget * 10n ** 3n) / 160n;
			const sold = sell({ asset: sol, amount, inFlight: 0n }) ?? 0n;
			expect(sold * 10n ** 5n * 10_000n).toBeLessThanOrEqual(amount * cents * 9_995n);
			expect(sold * 10n ** 3n * 1_000n).toBeLessThanOrEqual(amount * 150n * 1_001n);
		}),
	);
});

test("beyond the top size, the price is neither better than the spread's nor than the top size's rate", () => {
	const quoter = ladders();
	quote(quoter, 15_000n);
	const budget = 400_000n * 10n ** 6n;
	const bySpread = pricing(undefined).buy({ asset: sol, budget, inFlight: 0n })?.output ?? 0n;
	expect(pricing(quoter).buy({ asset: sol, budget, inFlight: 0n })?.output).toBe(bySpread);
	quote(quoter, 15_000n, [1n, 3n, 90n]);
	const deep = pricing(quoter).buy({ asset: sol, budget, inFlight: 0n })?.output ?? 0n;
	expect(Number(deep) / Number((budget * 1_000n) / 150n)).toBeCloseTo(1 - 0.0095, 5);
});

test("volume in flight lowers the value of a sale", () => {
	const quoter = ladders();
	quote(quoter, 15_000n, [1n, 30n, 90n]);
	const { sell } = pricing(quoter);
	const alone = sell({ asset: sol, amount: 100n * oneSol, inFlight: 0n }) ?? 0n;
	expect(sell({ asset: sol, amount: 100n * oneSol, inFlight: 1_000n * oneSol })).toBeLessThan(alone);
});

test("an old response is not used, and the spread is charged instead", () => {
	const quoter = ladders();
	const { buy } = pricing(quoter);
	const bySpread = buy({ asset: sol, budget: thousand, inFlight: 0n });
	quote(quoter, 15_000n);
	clockMs += 10_000;
	expect(buy({ asset: sol, budget: thousand, inFlight: 0n })).not.toEqual(bySpread);
	clockMs += 1;
	expect(buy({ asset: sol, budget: thousand, inFlight: 0n })).toEqual(bySpread);
});

test.each([14_690n, 15_310n])(
	"a quoter that is 2 percent away from the feed stops the asset by name: %s",
	(cents) => {
		const quoter = ladders();
		const { stopOf } = pricing(quoter);
		quote(quoter, 15_100n);
		expect(stopOf(sol, { nowMs: clockMs })).toBeUndefined();
		quote(quoter, cents);
		expect(stopOf(sol, { nowMs: clockMs })).toEqual({ reason: "references-differ", symbol: "SOL" });
		expect(stopOf(usdc, { nowMs: clockMs })).toBeUndefined();
	},
);

let server: Server;
let url: string;
let requests: IncomingMessage[] = [];
let [atOnce, maxAtOnce] = [0, 0];
let answer: (query: URLSearchParams) => { status: number; body?: object; retryAfter?: string };
beforeAll(async () => {
	server = createServer((request, response) => {
		requests.push(request);
		const { status, body = {}, retryAfter } = answer(new URL(request.url ?? "", "http://model").searchParams);
		if (status === 0) return;
		maxAtOnce = Math.max(maxAtOnce, ++atOnce);
		response.writeHead(status, {
			"content-type": "application/json",
			location: "/elsewhere",
			...(retryAfter && { "retry-after": retryAfter }),
		});
		// A second request would arrive before the answer to the first is written.
		setTimeout(() => {
			atOnce--;
			response.end(JSON.stringify(body));
		}, 5);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/swap/v2`;
});
beforeEach(() => {
	requests = [];
	answer = market;
});
afterAll(() => {
	server.closeAllConnections();
	server.close();
});

/** Answers like a simulated quoter with SOL at 150 USD. */
function market(query: URLSearchParams) {
	const amount = BigInt(query.get("amount") ?? "0");
	const isBuy = query.get("inputMint") === key(11);
	const outAmount = String(isBuy ? (amount * 1_000n) / 150n : (amount * 150n) / 1_000n);
	const body = {
		mode: "ultra",
		swapType: "aggregator",
		inAmount: String(amount),
		outAmount,
		transaction: null,
	};
	return { status: 200, body };
}

const { signal } = new AbortController();
const wrappedSol = "So11111111111111111111111111111111111111112";
const mints = { inputMint: key(11), outputMint: wrappedSol as typeof solanaNativeToken };
const ask = (changes = {}) =>
	readQuoter({ url, ...mints, amount: thousand, key: "the-key", timeoutMs: 10_000, signal, ...changes });

test("the quoter gets requests without a taker, with the key in a header", async () => {
	expect(await ask()).toBe((thousand * 1_000n) / 150n);
	const asked = new URL(requests[0]?.url ?? "", url);
	expect(asked.pathname).toBe("/swap/v2/order");
	expect(Object.fromEntries(asked.searchParams)).toEqual({ ...mints, amount: String(thousand) });
	expect(requests[0]?.headers["x-api-key"]).toBe("the-key");
	await ask({ url: `${url}/`, key: undefined });
	expect(requests[1]?.url).toMatch(/^\/swap\/v2\/order\?/);
	expect(requests[1]?.headers["x-api-key"]).toBeUndefined();
});

test.each<[string, ReturnType<typeof answer>]>([
	["refuses the key", { status: 401 }],
	["requires fewer requests", { status: 429, retryAfter: "7" }],
	["redirects to another host", { status: 307 }],
	["does not answer in time", { status: 0 }],
	["has no route", { status: 200, body: { inAmount: String(thousand), error: "no route" } }],
	["quotes another amount", { status: 200, body: { inAmount: "5", outAmount: "5" } }],
	["quotes nothing", { status: 200, body: { inAmount: String(thousand), outAmount: "0" } }],
])("a quoter that %s is an error without the key in it", async (_, bad) => {
	answer = () => bad;
	const error: unknown = await ask(bad.status === 0 ? { timeoutMs: 100 } : {}).catch(
		(reason: unknown) => reason,
	);
	expect(error).toBeInstanceOf(Error);
	expect(JSON.stringify([String(error), error])).not.toContain("the-key");
	if (bad.status === 429) expect(error).toMatchObject({ waitMs: 7_000 });
});

test("ladders are kept for both directions, one request at a time; a failing quoter is retried after a pause, and logged once", async () => {
	const kept = ladders();
	const stopping = new AbortController();
	const log = createLog({ level: "silent", process: "test" });
	const warned = vi.spyOn(log, "warn");
	const told = vi.spyOn(log, "info");
	const feeds = pricing(undefined);
	const running = keepQuoter({
		quoter: { url, timeoutMs: 10_000, requestsPerSecond: 100 },
		key: undefined,
		deployment,
		topUsd: 250_000,
		priceCache: {
			isReferenceLive: () => true,
			reference: ({ asset }: { asset: Address }) => feeds.reference(asset),
		},
		ladders: kept,
		nowMs: () => clockMs,
		signal: stopping.signal,
		log,
	});
	await vi.waitFor(() => expect(kept.rungsOf(sol, "sell")).toHaveLength(3), { timeout: 10_000 });
	expect(kept.rungsOf(sol, "buy")?.map(({ input }) => input)).toEqual(
		[1_000n, 25_000n, 250_000n].map((usd) => usd * 10n ** 6n),
	);
	expect(kept.rungsOf(sol, "sell")?.at(-1)).toEqual({ input: 1_666_666_666_667n, output: 250_000_000_000n });
	expect(maxAtOnce).toBe(1);
	answer = () => ({ status: 429, retryAfter: "0.05" });
	const before = requests.length;
	await vi.waitFor(() => expect(requests.length).toBeGreaterThan(before + 2), { timeout: 10_000 });
	expect(warned).toHaveBeenCalledTimes(1);
	answer = market;
	await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1), { timeout: 10_000 });
	stopping.abort();
	await running;
});
