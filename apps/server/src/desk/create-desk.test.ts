import { startTestChains, type TestChains } from "@geoswap/devnet";
import {
	fromWord,
	mulDivDown,
	mulDivUp,
	type QuoteRequest,
	quoteRequestSchema,
	SwapError,
	solanaChainId,
	toSwapKey,
	unpackDeadlines,
} from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, formatUnits, getAddress, parseUnits, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache } from "../../test/desk/test-prices.ts";
import type { BlockPrices } from "../chain/evm/read/read-block-prices.ts";
import { evmChains } from "../config/chain-config.ts";
import { createDesk } from "./create-desk.ts";
import type { Desk, DeskQuote } from "./desk.ts";
import { deskChains, isSettlement } from "./desk-chain.ts";
import { networkCost } from "./network-cost.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { usdValueDown, usdValueUp } from "./price/usd-value.ts";
import { maxPaid } from "./price-swap.ts";

const wallet: Address = "0x1111111111111111111111111111111111111111";
const [one, two] = [31337, 31338];
const symbols = ["ETH", "WETH", "USDC", "USDT", "ORB"];
const none = { sell: 0n, buy: 0n };

let chains: TestChains;
let prices: BlockPrices[];
let priceCache: PriceCache;
let desk: Desk;
let nowMs: number;
beforeAll(async () => {
	chains = await startTestChains();
	prices = await Promise.all([readTestPrices(chains.origin), readTestPrices(chains.destination)]);
	nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000 + 250;
	priceCache = testPriceCache(testConfig(chains), prices, { nowMs });
	desk = deskAt(nowMs);
});
afterAll(() => chains.stop());

function deskAt(atMs: number, own: PriceCache = priceCache): Desk {
	return createDesk({
		config: testConfig(chains),
		priceCache: own,
		nowMs: () => atMs,
		random: (size) => new Uint8Array(size).fill(7),
	});
}

function withBaseFee(block: BlockPrices, baseFee: bigint): BlockPrices {
	return { ...block, fees: { ...block.fees, baseFee } };
}

function assetOf(chainId: number, symbol: string) {
	const chain = deskChains(testConfig(chains)).get(chainId);
	const asset = chain?.assets.find((candidate) => candidate.symbol === symbol);
	if (!chain || !asset) throw new Error(`no ${symbol} on ${chainId}`);
	return { chain, asset };
}

function request(change: Partial<QuoteRequest> & { from?: string; to?: string } = {}): QuoteRequest {
	const { from = "USDC", to = "USDC", ...rest } = change;
	const originChain = rest.originChain ?? one;
	const destinationChain = rest.destinationChain ?? two;
	return {
		originChain,
		destinationChain,
		inputToken: assetOf(originChain === solanaChainId ? one : originChain, from).asset.address,
		outputToken: assetOf(destinationChain === solanaChainId ? two : destinationChain, to).asset.address,
		amount: 10_000_000n,
		walletAddress: wallet,
		recipient: undefined,
		slippageBps: undefined,
		...rest,
	};
}

function refusal(run: () => unknown): SwapError {
	try {
		run();
	} catch (error) {
		if (error instanceof SwapError) return error;
		throw error;
	}
	throw new Error("was not refused");
}

test("a quote fixes every term of its order", () => {
	const quote = desk.quote(request());
	const [from, to] = [chains.origin.deployment, chains.destination.deployment];
	const seconds = BigInt(Math.floor(nowMs / 1_000));
	expect(unpackDeadlines(quote.order.deadlines)).toEqual({
		openDeadline: seconds + 75n,
		fillDeadline: seconds + 120n,
		refundAfter: seconds + 150n,
	});
	expect(quote).toMatchObject({
		delivery: { kind: "inventory", amount: quote.output },
		feeBps: 12.5,
		inputUsd: "10.00",
		valueUsdCents: 1_000n,
		slippageBps: 50,
		recipient: wallet,
		issuedAtMs: nowMs,
		expiresAtMs: nowMs + 30_000,
		opExpiresAtMs: Number(seconds) * 1_000 + 45_000,
		etaSeconds: 4,
	});
	expect(quote.order).toMatchObject({ originChainId: 31337n, destinationChainId: 31338n });
	expect(fromWord(quote.order.escrow)).toBe(from.contracts.escrow);
	expect(fromWord(quote.order.originVault)).toBe(from.contracts.vault);
	expect(fromWord(quote.order.destinationVault)).toBe(to.contracts.vault);
	expect(quote.order.attesterSet).toBe(from.attesterSet.hash);
	expect(quote.order.swapKey).toBe(toSwapKey(quote.uuid));
	expect(quote.order.minOutput).toBe(mulDivDown(quote.output, 9_950n, 10_000n));
	expect(quote.summary).toMatch(/^10 USDC on Devnet One -> about 9\.\d{1,5} USDC on Devnet Two$/);
});

test("for every pair and size, the output is worth at most the input less the fee, within the feeds' margin", () => {
	const swap = fc.record({
		from: fc.constantFrom(...symbols),
		to: fc.constantFrom(...symbols),
		isSameChain: fc.boolean(),
		usd: fc.integer({ min: 2, max: 249_000 }),
		slippageBps: fc.integer({ min: 1, max: 5_000 }),
	});
	fc.assert(
		fc.property(swap, ({ from, to, isSameChain, usd, slippageBps }) => {
			fc.pre(!isSameChain || from !== to);
			const destinationChain = isSameChain ? one : two;
			const [origin, destination] = [assetOf(one, from), assetOf(destinationChain, to)];
			const quote = desk.quote(
				request({ from, to, destinationChain, slippageBps, amount: worth(one, from, usd) }),
			);
			const [input, output] = [reference(one, from), reference(destinationChain, to)];
			const inputE18 = usdValueDown(quote.order.inputAmount, input);
			const steps = [isSettlement(origin), isSettlement(destination)].filter((is) => !is).length;
			const margin = 1_001n ** BigInt(steps);
			const most = mulDivDown(inputE18 * margin, 1_000_000n - 1_250n, 1_000n ** BigInt(steps) * 1_000_000n);
			expect(usdValueUp(quote.output, output)).toBeLessThanOrEqual(most);
			expect(quote.output).toBeGreaterThanOrEqual(quote.minOutput);
			expect(quote.minOutput).toBe(mulDivDown(quote.output, BigInt(10_000 - slippageBps), 10_000n));
			expect(quote.delivery.kind).toBe(isSettlement(destination) ? "inventory" : "router");
			expectNeverMoreWhenRepriced(quote);
		}),
		{ numRuns: 300 },
	);

	function expectNeverMoreWhenRepriced(quote: DeskQuote): void {
		const same = desk.reprice(quote, none);
		expect(same).toMatchObject({ delivery: quote.delivery, output: quote.output });
		const later = desk.reprice(quote, { sell: quote.order.inputAmount, buy: 10_000_000_000n });
		if (!later) return;
		expect(later.amount).toBeLessThanOrEqual(same?.amount ?? 0n);
		expect(later.output).toBeLessThanOrEqual(quote.output);
		expect(later.output).toBeGreaterThanOrEqual(quote.minOutput);
	}
});

test("between settlement tokens, output, fee, option and network cost add up to the input", () => {
	const [origin, destination] = [assetOf(one, "USDC"), assetOf(two, "USDC")];
	const network = networkCost(priceCache, { origin, destination }, { marginBps: 200 });
	fc.assert(
		fc.property(fc.bigInt(5_000_000n, 250_000_000_000n), (amount) => {
			const { output } = desk.quote(request({ amount }));
			const fee = mulDivUp(amount, 1_250n, 1_000_000n);
			const option = mulDivUp(amount, 100n, 1_000_000n);
			expect(output + fee + option + network).toBe(amount);
		}),
	);
});

test("a top-up is charged at the native token's price with the margin of gas, and its gas is charged too", () => {
	const topUp = 10n ** 15n;
	const [plain, topped] = [desk.quote(request()), desk.quote(request({ topUp }))];
	expect(topped.order.topUp).toBe(topUp);
	expect(plain.output - topped.output).toBe(topped.networkCost - plain.networkCost);
	const worthE6 = usdValueUp(topUp, reference(two, "ETH")) / 10n ** 12n;
	const charged = Number(topped.networkCost - plain.networkCost) / Number(worthE6);
	expect(charged).toBeGreaterThan(1.02);
	expect(charged).toBeLessThan(1.1);
	expect(desk.reprice(topped, none)?.output).toBe(topped.output);
	// Without the quote's charge, the top-up is charged for at the current price.
	const rebuilt = desk.reprice({ ...topped, networkCost: undefined, delivery: plain.delivery }, none);
	expect(rebuilt?.output ?? 0n).toBeLessThan(plain.output - worthE6);
	// An input that has lost value pays for the top-up first.
	const half = { ...topped, order: { ...topped.order, inputAmount: 5_000_000n, minOutput: 1n } };
	const [with_, without] = [half, { ...half, order: { ...half.order, topUp: 0n } }].map(desk.deliveryNow);
	if (typeof with_ !== "object" || typeof without !== "object") throw new Error("both are delivered");
	expect(Number(maxPaid(without) - maxPaid(with_)) / Number(worthE6)).toBeCloseTo(1, 3);
});

test("a submit pays the quoted network cost while fees rise within the margin, more above it, and is refused below the minimum", () => {
	const amount = 10_000_000n;
	const atFee = (percent: bigint) => {
		const blocks = prices.map((block) => withBaseFee(block, parseUnits("1", 7) * percent));
		return deskAt(nowMs, testPriceCache(testConfig(chains), blocks, { nowMs }));
	};
	const [patient, strict] = [5_000, 1].map((slippageBps) =>
		atFee(100n).quote(request({ amount, slippageBps })),
	);
	if (!patient || !strict) throw new Error("there are two quotes");
	for (const percent of [10n, 100n, 101n]) {
		expect(atFee(percent).reprice(strict, none)?.output).toBe(strict.output);
	}
	const dearer = atFee(110n).reprice(patient, none)?.output ?? 0n;
	const [origin, destination] = [assetOf(one, "USDC"), assetOf(two, "USDC")];
	const cost = networkCost(
		testPriceCache(
			testConfig(chains),
			prices.map((block) => withBaseFee(block, parseUnits("11", 8))),
			{ nowMs },
		),
		{ origin, destination },
	);
	expect(patient.output - dearer).toBe(cost - patient.networkCost);
	expect(atFee(110n).reprice(strict, none)).toBeUndefined();
});

test("a depegged origin stable is priced by its feed, a depegged destination stable at par", () => {
	const depegged = (side: number) =>
		prices.map((block, i) => {
			const { asset } = assetOf(block.chainId, "USDC");
			const before = block.assets.get(asset.address);
			if (i !== side || !before) return block;
			const feed = { ...before.feed, usdE18: 98n * 10n ** 16n };
			return { ...block, assets: new Map(block.assets).set(asset.address, { ...before, feed }) };
		});
	const outputWith = (side: number) =>
		deskAt(nowMs, testPriceCache(testConfig(chains), depegged(side), { nowMs })).quote(
			request({ amount: 1_000_000_000n }),
		).output;
	const normal = desk.quote(request({ amount: 1_000_000_000n })).output;
	expect(outputWith(0)).toBeLessThan((normal * 981n) / 1_000n);
	expect(outputWith(1)).toBeLessThanOrEqual(normal);
	expect(outputWith(1)).toBeGreaterThan((normal * 999n) / 1_000n);
});

describe("sizes", () => {
	const pairs = symbols.flatMap((from) => symbols.map((to) => ({ from, to })));

	test.each(pairs)("$from to $to: the refusal of a size includes a size that is accepted", ({ from, to }) => {
		const small = refusal(() => desk.quote(request({ from, to, amount: 1n })));
		expect(small.code).toBe("NEEDS_LARGER_SIZE");
		const minimum = BigInt((small.details as { minimumAmount: string }).minimumAmount);
		expect(desk.quote(request({ from, to, amount: minimum })).output).toBeGreaterThan(0n);

		const large = refusal(() => desk.quote(request({ from, to, amount: 2n ** 256n - 1n })));
		expect(large.details).toMatchObject({ reason: "capacity" });
		const maximum = BigInt((large.details as { maximumAmount: string }).maximumAmount);
		expect(desk.quote(request({ from, to, amount: maximum })).output).toBeGreaterThan(0n);
		expect(maximum).toBeGreaterThan(worth(one, from, 200_000));
	});

	test("the message of a size that is refused has the limit in smallest units and in whole tokens", () => {
		const small = refusal(() => desk.quote(request({ amount: 1n })));
		const { minimumAmount } = small.details as { minimumAmount: string };
		const large = refusal(() => desk.quote(request({ amount: 10n ** 20n })));
		const { maximumAmount } = large.details as { maximumAmount: string };
		expect(small.message).toContain(
			`Send at least ${minimumAmount} (${formatUnits(BigInt(minimumAmount), 6)} USDC).`,
		);
		const [whole, fraction] = formatUnits(BigInt(maximumAmount), 6).split(".");
		const shown = [Number(whole).toLocaleString("en-US"), ...(fraction ? [fraction] : [])].join(".");
		expect(large.message).toBe(`The amount is too large. Send at most ${maximumAmount} (${shown} USDC).`);
	});

	test("the named minimum size is accepted and nothing smaller is, within half a percent if gas decides", () => {
		const configured = new Map(symbols.map((symbol) => [symbol, worth(one, symbol, 1)]));
		fc.assert(
			fc.property(
				fc.constantFrom(...pairs),
				fc.integer({ min: 0, max: 400 }),
				fc.bigInt({ min: 1n, max: 10n ** 20n }),
				({ from, to }, gwei, amount) => {
					const blocks = prices.map((block) => withBaseFee(block, parseUnits(String(gwei), 9)));
					const own = deskAt(nowMs, testPriceCache(testConfig(chains), blocks, { nowMs }));
					const ask = (size: bigint) => () => own.quote(request({ from, to, amount: size }));
					const minimumOf = (size: bigint): bigint | undefined => {
						try {
							ask(size)();
							return undefined;
						} catch (error) {
							if (!(error instanceof SwapError)) throw error;
							const { minimumAmount } = error.details as { minimumAmount?: string };
							return minimumAmount === undefined ? undefined : BigInt(minimumAmount);
						}
					};
					const minimum = minimumOf(amount);
					if (minimum === undefined) return;
					expect(ask(minimum)().output).toBeGreaterThan(0n);
					// Every request below the minimum gets the same minimum.
					expect(minimumOf(1n)).toBe(minimum);
					const isConfigured = minimum <= (configured.get(from) ?? 0n) + 1n;
					const below = isConfigured ? minimum - 1n : (minimum * 994n) / 1_000n;
					expect(minimumOf(below)).toBe(minimum);
				},
			),
			{ numRuns: 200 },
		);
	});

	test("a pair that works only near the maximum size still has a minimum in its error", () => {
		// Network costs are near the maximum size, so twice the smallest possible size is above the maximum.
		const blocks = prices.map((block) => withBaseFee(block, parseUnits("160000", 9)));
		const own = deskAt(nowMs, testPriceCache(testConfig(chains), blocks, { nowMs }));
		const error = refusal(() => own.quote(request({ amount: 1n })));
		expect(error.code).toBe("NEEDS_LARGER_SIZE");
		const minimum = BigInt((error.details as { minimumAmount: string }).minimumAmount);
		expect(minimum).toBeGreaterThan(worth(one, "USDC", 125_001));
		expect(own.quote(request({ amount: minimum })).output).toBeGreaterThan(0n);
	});

	test("high gas prices raise the minimum above the gas cost", () => {
		const dear = prices.map((block) => withBaseFee(block, parseUnits("100", 9)));
		const dearDesk = deskAt(nowMs, testPriceCache(testConfig(chains), dear, { nowMs }));
		const error = refusal(() => dearDesk.quote(request()));
		const minimum = BigInt((error.details as { minimumAmount: string }).minimumAmount);
		expect(minimum).toBeGreaterThan(85_000_000n);
		const quote = dearDesk.quote(request({ amount: minimum }));
		expect(quote.output).toBeLessThan(minimum / 50n);
		expect(quote.priceImpactBps).toBeLessThan(-9_000);
		expect(quote.warnings.map(({ code }) => code)).toEqual(["HIGH_PRICE_IMPACT"]);
	});
});

describe("a request that is not offered", () => {
	test.each([
		["chain", { originChain: 1, inputToken: zeroAddress }],
		["chain", { destinationChain: solanaChainId }],
		["token", { inputToken: "0x2222222222222222222222222222222222222222" }],
		["pair", { destinationChain: one }],
	])("is refused: %s", (reason, change) => {
		const base = request();
		const error = refusal(() =>
			desk.quote({ ...base, ...change, ...(reason === "pair" && { outputToken: base.inputToken }) }),
		);
		expect(error).toMatchObject({ code: "NO_ROUTE", details: { reason } });
	});

	test("is refused if a chain is only for some accounts, and the request has another account or none", () => {
		const allowed = "01890000-0000-7000-8000-000000000001";
		const config = testConfig(chains);
		const onlySome = createDesk({
			config: {
				...config,
				chains: config.chains.map((chain) =>
					chain.chainId === two ? { ...chain, onlyAccounts: [allowed] } : chain,
				),
			},
			priceCache,
			nowMs: () => nowMs,
			random: (size) => new Uint8Array(size).fill(7),
		});
		for (const options of [{}, { accountId: "01890000-0000-7000-8000-000000000002" }]) {
			for (const change of [{}, { originChain: two, destinationChain: one }]) {
				expect(refusal(() => onlySome.quote(request(change), options))).toMatchObject({
					code: "NO_ROUTE",
					details: { reason: "chain", accepted: [String(one)] },
				});
			}
		}
		const quote = onlySome.quote(request(), { accountId: allowed });
		expect(quote.output).toBeGreaterThan(0n);
		// A swap that has begun continues, regardless of its account.
		expect(onlySome.reprice(quote, { sell: 0n, buy: 0n })).toBeDefined();
	});

	test("is refused with its side and the values that its field accepts", () => {
		const stranger = "0x2222222222222222222222222222222222222222";
		for (const [change, side, field] of [
			[{ originChain: 1 }, "origin", "originChain"],
			[{ destinationChain: 1 }, "destination", "destinationChain"],
			[{ inputToken: stranger }, "origin", "inputToken"],
			[{ outputToken: stranger }, "destination", "outputToken"],
		] as const) {
			const error = refusal(() => desk.quote({ ...request(), ...change }));
			const { accepted = [], ...details } = error.details as { accepted?: string[] };
			const reason = field.endsWith("Chain") ? "chain" : "token";
			expect(details).toEqual({ reason, side });
			expect(accepted.length).toBeGreaterThan(1);
			for (const value of accepted) {
				const mended = quoteRequestSchema.parse({
					...request(),
					...change,
					amount: "1000000000",
					[field]: value,
				});
				// The quote may still be refused because of other fields, but the accepted value itself is known.
				try {
					desk.quote(mended);
				} catch (error) {
					expect((error as SwapError).code).not.toBe("INVALID_REQUEST");
					expect((error as SwapError<"NO_ROUTE">).details.reason).not.toBe(reason);
				}
			}
		}
	});

	test("is refused as paused while prices are stale", () => {
		expect(refusal(() => deskAt(nowMs + 20_000).quote(request()))).toMatchObject({
			code: "NO_ROUTE",
			details: { reason: "paused", side: "origin" },
			next: "retry",
			retryable: true,
		});
	});

	test("an address that has no key, or that is misspelt, is refused by its field", () => {
		const { contracts, uniswap, wrappedNative } = chains.destination.deployment;
		const mixed = getAddress("0xabcdefabcdefabcdefabcdefabcdefabcdefabcd");
		const misspelt = mixed.replace("b", "B") === mixed ? mixed.replace("B", "b") : mixed.replace("b", "B");
		const wrong = [zeroAddress, `0x${"0".repeat(38)}09`, `0x${"0".repeat(36)}0100`, misspelt, "11111111"];
		for (const recipient of [
			...wrong,
			contracts.vault,
			contracts.delegate,
			contracts.typedDelegate,
			chains.origin.deployment.contracts.escrow,
			uniswap.router,
			wrappedNative.toLowerCase(),
			request().outputToken,
		]) {
			const error = refusal(() => desk.quote(request({ recipient })));
			expect(error.code).toBe("INVALID_REQUEST");
			expect(error.details).toMatchObject({ issues: [{ path: "recipient" }] });
		}
		expect(refusal(() => desk.quote(request({ walletAddress: zeroAddress }))).details).toMatchObject({
			issues: [{ path: "walletAddress" }],
		});
		for (const recipient of [mixed, mixed.toLowerCase(), `0x${mixed.slice(2).toUpperCase()}`]) {
			expect(desk.quote(request({ recipient })).recipient).toBe(mixed);
		}
	});
});

describe("after the quote", () => {
	test("a swap adds volume to the ladders it uses, and native and wrapped tokens share one", () => {
		const { wrappedNative, settlementToken } = chains.origin.deployment;
		const quote = desk.quote(request({ from: "ETH", to: "ORB", amount: 10n ** 18n }));
		if (quote.delivery.kind !== "router") throw new Error("not through the router");
		expect(desk.volumes(quote)).toEqual([
			{ chainId: one, token: wrappedNative, direction: "sell", amount: 10n ** 18n },
			{
				chainId: two,
				token: assetOf(two, "ORB").asset.address,
				direction: "buy",
				amount: quote.delivery.budget,
			},
			// The route may go through the wrapped native token.
			{
				chainId: two,
				token: chains.destination.deployment.wrappedNative,
				direction: "buy",
				amount: quote.delivery.budget,
			},
		]);
		const wrapped = desk.quote(request({ to: "WETH", amount: 1_000_000_000n }));
		expect(desk.volumes(wrapped).map((volume) => volume.token)).toEqual([
			chains.destination.deployment.wrappedNative,
		]);
		expect(desk.volumes(desk.quote(request()))).toEqual([]);
		expect(settlementToken).toBe(request().inputToken);
	});

	test("no price is returned if it fell below the minimum or is unknown", () => {
		const quote = desk.quote(request({ from: "ORB", slippageBps: 1, amount: parseUnits("1000", 18) }));
		expect(desk.reprice(quote, none)?.output).toBe(quote.output);
		expect(desk.reprice(quote, { sell: parseUnits("100000", 18), buy: 0n })).toBeUndefined();
		expect(desk.reprice(quote, { sell: parseUnits("1000000", 18), buy: 0n })).toBeUndefined();
		expect(deskAt(nowMs + 20_000).reprice(quote, none)).toBeUndefined();
	});

	test("the exposure limit of an input is the configured value in that token, also for the settlement token", () => {
		const { order } = desk.quote(request({ from: "WETH", amount: 10n ** 18n }));
		expect(desk.holdingLimit(order)).toEqual({
			chainId: one,
			token: assetOf(one, "WETH").asset.address,
			amount: worth(one, "WETH", 10_000_000),
		});
		expect(desk.holdingLimit(desk.quote(request()).order)).toEqual({
			chainId: one,
			token: assetOf(one, "USDC").asset.address,
			amount: worth(one, "USDC", 10_000_000),
		});
	});

	test("gas is valued at the price of the chain's native token", () => {
		const wei = worth(one, "ETH", 50);
		expect(desk.gasUsdCents({ chainId: one, wei })).toBe(5_000n);
		expect(desk.gasUsdCents({ chainId: 1, wei })).toBe(0n);
	});

	test("a fill through the router requires the fresh price less 30 bps, or the minimum if there is no fresh price", () => {
		const quote = desk.quote(request({ to: "ORB", amount: 1_000_000_000n }));
		expect(desk.freshMinimum(quote)).toBe(mulDivDown(quote.output, 9_970n, 10_000n));
		// An amount spent on the token just before moves the pool.
		expect(desk.freshMinimum({ ...quote, inFlight: 10_000_000_000n })).toBeLessThan(desk.freshMinimum(quote));
		expect(deskAt(nowMs + 20_000).freshMinimum(quote)).toBe(quote.minOutput);
		const fromInventory = desk.quote(request());
		expect(desk.freshMinimum(fromInventory)).toBe(fromInventory.minOutput);
	});
});

function reference(chainId: number, symbol: string) {
	return priceCache.reference({ chainId, asset: assetOf(chainId, symbol).asset.address });
}

function worth(chainId: number, symbol: string, usd: number): bigint {
	const { usdE18, decimals } = reference(chainId, symbol);
	return (BigInt(usd) * 10n ** BigInt(18 + decimals)) / usdE18;
}

test("the settlement spread is charged only between chains that settle in different tokens", () => {
	const config = testConfig(chains);
	const [from, to] = evmChains(config);
	if (!from || !to) throw new Error("there are two chains");
	// Tokens with different symbols count as different tokens.
	const assets = to.deployment.assets.map((asset) =>
		asset.symbol === "USDC" ? { ...asset, symbol: "USDX" } : asset,
	);
	const renamed = { ...to, deployment: { ...to.deployment, assets } };
	const outputOf = (destination: typeof to, settlementSpreadBps: number) =>
		createDesk({
			config: { ...config, chains: [from, destination], price: { ...config.price, settlementSpreadBps } },
			priceCache,
			nowMs: () => nowMs,
			random: (size) => new Uint8Array(size),
		}).quote(request({ amount: 1_000_000_000n })).output;
	expect(outputOf(to, 30)).toBe(outputOf(to, 0));
	expect(outputOf(renamed, 0)).toBe(outputOf(to, 0));
	const taken = outputOf(renamed, 0) - outputOf(renamed, 30);
	// 30 bps of 1,000 USDC, slightly less because fee and option shrink with the value.
	expect(Number(taken)).toBeGreaterThan(2_995_000);
	expect(Number(taken)).toBeLessThanOrEqual(3_000_000);
});

describe("a delivery at signing", () => {
	test("is the promised one while the input is worth it, and less once the input's value fell", () => {
		const quote = desk.quote(request({ from: "WETH", amount: 10n ** 18n }));
		expect(desk.deliveryNow(quote)).toEqual(quote.delivery);
		const half = { ...quote, order: { ...quote.order, inputAmount: 10n ** 18n / 2n, minOutput: 1n } };
		const capped = desk.deliveryNow(half);
		if (typeof capped === "string" || capped.kind !== "inventory") throw new Error("it is from inventory");
		expect(capped.amount).toBeLessThan(usdValueDown(10n ** 18n / 2n, reference(one, "WETH")) / 10n ** 12n);
		expect(desk.deliveryNow({ ...half, order: { ...half.order, minOutput: quote.minOutput } })).toBe(
			"below-minimum",
		);
		expect(deskAt(nowMs + 20_000).deliveryNow(quote)).toBe("no-price");
	});

	test("costs more if the recipient can still refuse it, by the volatility of the input", () => {
		const config = testConfig(chains);
		const optionAt = (volatile: number, to: string) => {
			const volatilityPercent = { stable: 0, volatile, bySymbol: {} };
			const own = createDesk({
				config: { ...config, price: { ...config.price, volatilityPercent } },
				priceCache,
				nowMs: () => nowMs,
				random: (size) => new Uint8Array(size),
			});
			const { delivery } = own.quote(request({ from: "WETH", to, amount: 10n ** 18n }));
			return delivery.kind === "router" ? delivery.budget : undefined;
		};
		expect(optionAt(200, "WETH")).toBe(optionAt(0, "WETH"));
		expect(optionAt(200, "ETH") ?? 0n).toBeLessThan(optionAt(0, "ETH") ?? 0n);
	});
});

test("swaps from or to a paused chain are not quoted, and other swaps are", () => {
	const paused = createDesk({
		config: testConfig(chains),
		priceCache,
		pauses: { reasonOf: (chainId) => (chainId === two ? "the books differ (I2)" : undefined) },
		nowMs: () => nowMs,
		random: (size) => new Uint8Array(size).fill(7),
	});
	for (const refused of [request(), request({ originChain: two, destinationChain: one })]) {
		expect(() => paused.quote(refused)).toThrow(
			expect.objectContaining({
				code: "NO_ROUTE",
				details: { reason: "paused", side: expect.any(String) },
				message: expect.stringContaining("is paused: the books differ (I2)"),
				retryable: true,
			}),
		);
	}
	expect(paused.quote(request({ destinationChain: one, to: "USDT" })).output).toBeGreaterThan(0n);
});
