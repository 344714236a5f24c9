import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Order, type SwapUuid, toWord, type UsdE18 } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, type Hex, numberToHex, parseUnits, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { arbitrumId, baseId, consoleConfig } from "../../../test/console/console-config.ts";
import { createChainNames } from "../../config/chain-names.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { SwapProfit } from "../../money/profit/read-profit.ts";
import { createTally, type Period } from "../../money/profit/tally.ts";
import { formatReport, formatUsd36 } from "./format-report.ts";

const docs = readFileSync(join(import.meta.dirname, "../../../../../docs/treasury.md"), "utf8");
const config = consoleConfig();
const chainNames = createChainNames(config);
const day = "2026-11-30";
const usd = (text: string) => parseUnits(text, 36);
const price = (text: string) => parseUnits(text, 18) as UsdE18;
const tokenOf = (chainId: number, symbol: string) =>
	configuredAssets(config).find((asset) => asset.chainId === chainId && asset.symbol === symbol)
		?.token as Hex;

const usdc = { usdOpening: price("0.9998"), usdClosing: price("1.0001") };
const eth = { usdOpening: price("2450"), usdClosing: price("2468.5") };
const tokens = [
	[baseId, "USDC", 6, "100000", "98020.4", usdc, "29.8"],
	[baseId, "ETH", 18, "2", "1.99874", eth, "36.98"],
	[arbitrumId, "USDC", 6, "50000", "52002.5", usdc, "15.2"],
	[arbitrumId, "ETH", 18, "1.5", "1.49902", eth, "27.74"],
] as const;

const periods: Period[] = [baseId, arbitrumId].map((chainId) => ({
	day,
	chainId,
	isClosed: true,
	afterPosting: 1,
	lastPosting: 9,
	afterBlock: 1,
	lastBlock: 9,
	tokens: tokens
		.filter(([id]) => id === chainId)
		.map(([, symbol, decimals, opening, closing, prices, positions]) => {
			return {
				token: tokenOf(chainId, symbol),
				opening: parseUnits(opening, decimals),
				closing: parseUnits(closing, decimals),
				...prices,
				positions36: usd(positions),
				agreed: chainId === baseId || undefined,
			};
		}),
}));

function profit(input: string, output: string, values: Partial<SwapProfit>): SwapProfit {
	const order = {
		originChainId: BigInt(baseId),
		destinationChainId: BigInt(arbitrumId),
		inputToken: toWord(tokenOf(baseId, input) as Address),
		outputToken: toWord((output === "ETH" ? zeroAddress : tokenOf(arbitrumId, output)) as Address),
	} as Order;
	const none = { fee36: 0n, skew36: 0n, gas36: 0n, price36: 0n, underWay36: 0n };
	const sums = { ...none, ...values };
	return {
		...sums,
		orderId: numberToHex(1, { size: 32 }),
		swap: { id: randomUUID() as SwapUuid, accountId: undefined, account: "agents", order, valueUsdCents: 1n },
		isComplete: sums.underWay36 === 0n,
		profit36: sums.fee36 + sums.skew36 + sums.gas36 + sums.price36 + sums.underWay36,
	};
}

test("the morning report of the docs is what the command prints", () => {
	const profits = [
		...Array.from({ length: 38 }, () =>
			profit("USDC", "USDC", {
				fee36: usd("0.52"),
				skew36: usd("0.03"),
				gas36: usd("-0.11"),
				price36: usd("0.06"),
			}),
		),
		...Array.from({ length: 5 }, () =>
			profit("USDC", "ETH", { fee36: usd("0.8"), gas36: usd("-0.14"), price36: usd("-0.21") }),
		),
		profit("USDC", "USDC", { underWay36: usd("-20.75") }),
	];
	const tally = createTally(periods, {
		decimalsOf: (chainId, token) =>
			configuredAssets(config).find((asset) => asset.chainId === chainId && asset.token === token)?.decimals,
	});
	const add = (
		reason: "swap" | "move" | "overhead" | "declared",
		value36: bigint,
		chainId: number = baseId,
	) =>
		tally.add({
			reason,
			orderId: undefined,
			account: "",
			token: "0x",
			amount: 0n,
			chainId,
			name: "",
			value36,
		});
	add(
		"swap",
		profits.reduce((sum, { profit36 }) => sum + profit36, 0n),
	);
	add("move", usd("-1.2"));
	add("overhead", usd("-0.31"), arbitrumId);
	const before = tally.result();
	// What is left is declared, so that the example is one of books that close.
	add("declared", before.difference36);
	const text = formatReport(
		{ ...tally.result(), periods, profits, missing: [], range: { kind: "closed", days: [day] } },
		{ by: "pair", chainNames },
	);
	expect(docs).toContain(`\n${text}\n`);
});

test("a value is rounded to the nearest cent, and halves away from zero", () => {
	fc.assert(
		fc.property(
			fc.bigInt({ min: -(10n ** 45n), max: 10n ** 45n }),
			fc.integer({ min: 1, max: 18 }),
			(value, places) => {
				const text = formatUsd36(value, places);
				const error = parseUnits(text, 36) - value;
				expect(2n * (error < 0n ? -error : error) <= 10n ** BigInt(36 - places)).toBe(true);
				expect(text.split(".")[1]).toHaveLength(places);
			},
		),
	);
	expect([usd("0.005"), usd("-0.005"), usd("-0.0049")].map((value) => formatUsd36(value, 2))).toEqual([
		"0.01",
		"-0.01",
		"0.00",
	]);
});
