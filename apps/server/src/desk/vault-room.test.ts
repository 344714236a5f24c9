import { startTestChains, type TestChains } from "@geoswap/devnet";
import { type QuoteRequest, SwapError } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache } from "../../test/desk/test-prices.ts";
import type { BlockPrices } from "../chain/evm/read/read-block-prices.ts";
import type { Config } from "../config/config.ts";
import type { DemandLog } from "../swap/facts/demand-log.ts";
import type { InventoryReading } from "../swap/facts/free-inventory.ts";
import { createDesk } from "./create-desk.ts";
import type { Desk } from "./desk.ts";
import { maxPaid } from "./price-swap.ts";

const [one, two] = [31337, 31338];
const million = 1_000_000_000_000n;

let chains: TestChains;
let prices: BlockPrices[];
let held: Map<string, Partial<InventoryReading>>;
beforeAll(async () => {
	chains = await startTestChains();
	prices = await Promise.all([readTestPrices(chains.origin), readTestPrices(chains.destination)]);
});
afterAll(() => chains.stop());
beforeEach(() => {
	held = new Map();
});

test("a quote needs at most what is free, and its refusal has an amount that is not refused", () => {
	hold("USDC", { balance: million, free: 5_000_000_000n });
	expect(maxPaid(desk().quote(request({ amount: 5_000_000_000n })).delivery)).toBeLessThan(5_000_000_000n);
	for (const to of ["USDC", "ORB"]) {
		const maximum = BigInt(refusal(request({ to, amount: 6_000_000_000n })).maximumAmount ?? 0);
		expect(maximum).toBeGreaterThan(4_900_000_000n);
		const { delivery } = desk().quote(request({ to, amount: maximum }));
		expect(maxPaid(delivery)).toBeLessThanOrEqual(5_000_000_000n);
	}
});

test("an output that is requested exactly is limited to what is free", () => {
	hold("USDC", { balance: million, free: 5_000_000_000n });
	const exact = (outputAmount: bigint) => request({ amount: undefined, outputAmount });
	const maximum = BigInt(refusal(exact(6_000_000_000n)).maximumAmount ?? 0);
	expect(maximum).toBeGreaterThan(4_800_000_000n);
	expect(maxPaid(desk().quote(exact(maximum)).delivery)).toBeLessThanOrEqual(5_000_000_000n);
});

test("a quote needs at most the share of the inventory that one swap may take, of what is not reserved", () => {
	hold("USDC", { balance: 50_000_000_000n, reserved: 10_000_000_000n, free: 40_000_000_000n });
	const maximum = BigInt(refusal(request({ amount: 9_000_000_000n })).maximumAmount ?? 0);
	expect(maximum).toBeGreaterThan(6_300_000_000n);
	const { delivery } = desk().quote(request({ amount: maximum }));
	expect(maxPaid(delivery)).toBeLessThanOrEqual(6_400_000_000n);
});

test("nothing is quoted to a vault that holds nothing", () => {
	hold("USDC", {});
	expect(refusal(request({ amount: 10_000_000n }))).toEqual({ reason: "capacity" });
	expect(refusal(request({ outputAmount: 10_000_000n }))).toEqual({ reason: "capacity" });
});

test("a top-up needs native token that is free", () => {
	hold("USDC", { balance: million, free: million });
	hold("ETH", { balance: 10n ** 18n, free: 10n ** 18n });
	const toppedUp = request({ amount: 10_000_000n, topUp: 10n ** 15n });
	expect(desk().quote(toppedUp).order.topUp).toBe(10n ** 15n);
	hold("ETH", { balance: 10n ** 18n, free: 10n ** 15n - 1n });
	expect(refusal(toppedUp)).toEqual({ reason: "capacity" });
});

test("no quote is for more of an input than its vault may still hold", () => {
	hold("USDC", { balance: million, free: million });
	hold("USDC", { chainId: one, balance: 90_000_000_000n });
	const limited = { perAsset: 100_000, bySymbol: {} };
	const { maximumAmount } = refusal(request({ amount: 20_000_000_000n }), limited);
	expect(BigInt(maximumAmount ?? 0)).toBeGreaterThan(9_800_000_000n);
	expect(BigInt(maximumAmount ?? 0)).toBeLessThanOrEqual(10_001_000_000n);
});

test("what is refused for lack of inventory is recorded once, and what is refused for its size is not", () => {
	hold("USDC", { balance: million, free: 5_000_000_000n });
	const refused: Parameters<DemandLog["refused"]>[0][] = [];
	const quoted: Parameters<DemandLog["quoted"]>[0][] = [];
	const demand = {
		refused: (one: (typeof refused)[number]) => refused.push(one),
		quoted: (one: (typeof quoted)[number]) => quoted.push(one),
	};
	const own = desk(undefined, demand);
	const ask = (amount: bigint) => () => own.quote(request({ amount }), { accountId: "a" });
	expect(ask(6_000_000_000n)).toThrow("too large");
	expect(refused).toEqual([
		{
			accountId: "a",
			valueUsdCents: 600_000n,
			taken: {
				chainId: two,
				token: tokenOf("USDC"),
				amount: expect.toSatisfy((n: bigint) => n > 5_980_000_000n),
			},
			brought: { chainId: one, token: tokenOf("USDC", one), amount: 6_000_000_000n },
		},
	]);
	expect(ask(10n ** 15n)).toThrow("too large");
	ask(10_000_000n)();
	expect(refused).toHaveLength(1);
	expect(quoted).toEqual([{ accountId: "a", valueUsdCents: 1_000n }]);
	expect(() => own.quote(request({ amount: 6_000_000_000n }))).toThrow("too large");
	expect(refused).toHaveLength(1);
});

test("without a reading a quote is not limited", () => {
	expect(desk().quote(request({ amount: 200_000_000_000n })).amount).toBe(200_000_000_000n);
});

function desk(
	maxHoldingUsd?: Config["limits"]["maxHoldingUsd"],
	demand?: Parameters<typeof createDesk>[0]["demand"],
): Desk {
	const config = testConfig(chains);
	const nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000 + 250;
	const nothing = { balance: 0n, reserved: 0n, free: 0n, beingSold: 0n };
	return createDesk({
		config: { ...config, limits: { ...config.limits, ...(maxHoldingUsd && { maxHoldingUsd }) } },
		priceCache: testPriceCache(config, prices, { nowMs }),
		inventory: {
			of: ({ chainId, token }) =>
				held.size > 0 ? { ...nothing, ...held.get(`${chainId}:${token}`) } : undefined,
			isCurrent: () => true,
		},
		...(demand && { demand }),
		nowMs: () => nowMs,
		random: (size) => new Uint8Array(size).fill(7),
	});
}

function hold(
	symbol: string,
	{ chainId = two, ...reading }: Partial<InventoryReading> & { chainId?: number | undefined },
): void {
	held.set(`${chainId}:${tokenOf(symbol, chainId)}`, reading);
}

function tokenOf(symbol: string, chainId = two) {
	const { assets } = (chainId === one ? chains.origin : chains.destination).deployment;
	return assets.find((asset) => asset.symbol === symbol)?.address ?? zeroAddress;
}

function request({ to = "USDC", ...change }: Partial<QuoteRequest> & { to?: string }): QuoteRequest {
	return {
		originChain: one,
		destinationChain: two,
		inputToken: chains.origin.deployment.settlementToken,
		outputToken: tokenOf(to),
		amount: undefined,
		walletAddress: "0x1111111111111111111111111111111111111111",
		recipient: undefined,
		slippageBps: undefined,
		...change,
	};
}

function refusal(asked: QuoteRequest, maxHoldingUsd?: Config["limits"]["maxHoldingUsd"]) {
	try {
		desk(maxHoldingUsd).quote(asked);
	} catch (error) {
		if (error instanceof SwapError) return (error as SwapError<"NO_ROUTE">).details;
		throw error;
	}
	throw new Error("was not refused");
}
