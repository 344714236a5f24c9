import { randomBytes } from "node:crypto";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import {
	fromSolanaWord,
	fromSwapId,
	orderSchema,
	quoteResponseSchema,
	type SolanaDeployment,
	solanaChainId,
	unpackDeadlines,
} from "@geoswap/protocol";
import { getAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache, withSolana } from "../../../test/desk/test-prices.ts";
import { testSolanaDeployment } from "../../../test/order/test-solana-deployment.ts";
import { parseSealKeys } from "../../config/seal-keys.ts";
import { createDenyList, type DenyList } from "../../deny/deny-list.ts";
import { createDesk } from "../../desk/create-desk.ts";
import type { Desk } from "../../desk/desk.ts";
import { createFeeDiscounts, type FeeDiscounts } from "../../desk/discount/fee-discounts.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";
import { createLog } from "../../telemetry/log.ts";
import type { RouteRequest } from "../http/route.ts";
import { createDelegatedWallets } from "../origin/delegated-wallets.ts";
import { openToken } from "../seal/open-token.ts";
import { postQuote } from "./post-quote.ts";

const sealKeys = parseSealKeys(`test:${randomBytes(32).toString("base64url")}`);
const account = {
	accountId: "01890000-0000-7000-8000-000000000000",
	accountCreatedAt: new Date(0),
	keyId: "test",
	limits: { rates: { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 }, heldStatusCalls: 1 },
};
const wallet = "0x1111111111111111111111111111111111111111";

let chains: TestChains;
let solana: SolanaDeployment;
let desk: Desk;
let quote: (body: unknown, feeDiscounts?: FeeDiscounts, denyList?: DenyList) => Promise<unknown>;
const delegated = createDelegatedWallets();
beforeAll(async () => {
	chains = await startTestChains();
	solana = testSolanaDeployment(chains.origin.deployment);
	const prices = await Promise.all(
		[chains.origin, chains.destination].map((chain) => readTestPrices(chain, solana)),
	);
	const nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000;
	const config = withSolana(testConfig(chains), { deployment: solana });
	const priceCache = testPriceCache(config, prices, { nowMs });
	// Any further call of a quote to a chain would now fail.
	await chains.stop();
	desk = createDesk({ config, priceCache, nowMs: () => nowMs, random: (size) => randomBytes(size) });
	quote = (body, feeDiscounts, denyList) => {
		const { handle } = postQuote({
			desk,
			wantPrices: async () => {},
			feeDiscounts,
			recipients: { recipientOf: async () => undefined },
			delegated,
			denyList,
			sealKeys,
		});
		return (handle as (request: RouteRequest) => Promise<unknown>)({
			body,
			query: {},
			params: {},
			account,
			requestId: "test",
			log: createLog({ level: "silent", process: "test" }),
			onGone: () => {},
		});
	};
});
afterAll(() => chains.stop());

function body(change: Record<string, unknown> = {}): Record<string, unknown> {
	return {
		originChain: "31337",
		destinationChain: 31338,
		inputToken: chains.origin.deployment.settlementToken.toLowerCase(),
		outputToken: chains.destination.deployment.settlementToken,
		amount: 10_000_000,
		walletAddress: wallet,
		recipient: null,
		...change,
	};
}

test("a quote needs neither a chain nor a database, and its token holds the quoted terms", async () => {
	const response = quoteResponseSchema.strict().parse(await quote(body()));
	expect(response.geoQuoteToken.length).toBeLessThan(4_096);
	const sealed = await openToken<SealedQuote>(sealKeys, response.geoQuoteToken, {
		purpose: "quote:evm",
		accountId: account.accountId,
	});
	const order = orderSchema.parse(sealed.order);
	expect(sealed.uuid).toBe(fromSwapId(response.swapId));
	expect(String(sealed.output)).toBe(response.output);
	expect(sealed.delivery).toEqual({ kind: "inventory", amount: sealed.output });
	expect(String(order.minOutput)).toBe(response.minOutput);
	expect(new Date(sealed.expiresAtMs).toISOString()).toBe(response.expiresAt);
	expect(sealed.expiresAtMs - sealed.issuedAtMs).toBe(30_000);
	expect(sealed.opExpiresAtMs).toBe(Number(unpackDeadlines(order.deadlines).openDeadline) * 1_000 - 30_000);
	expect(response).toMatchObject({ origin: "evm", feeBps: 12.5, recipient: wallet, slippageBps: 50 });
});

test("a quote from Solana names its origin and is sealed for Solana's build endpoint only", async () => {
	const request = body({
		originChain: solanaChainId,
		inputToken: solana.settlementToken,
		walletAddress: "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
		recipient: wallet,
	});
	const response = quoteResponseSchema.strict().parse(await quote(request));
	expect(response).toMatchObject({ origin: "solana", recipient: wallet });
	const open = (purpose: "quote:evm" | "quote:solana") =>
		openToken<SealedQuote>(sealKeys, response.geoQuoteToken, { purpose, accountId: account.accountId });
	await expect(open("quote:evm")).rejects.toMatchObject({ details: { reason: "wrong_endpoint" } });
	const order = orderSchema.parse((await open("quote:solana")).order);
	expect(order).toMatchObject({
		originChainId: BigInt(solanaChainId),
		attesterSet: solana.program.attesterSet.hash,
	});
});

test("two quotes of one request have different swap ids", async () => {
	const [a, b] = await Promise.all([quote(body()), quote(body())]);
	expect(quoteResponseSchema.parse(a).swapId).not.toBe(quoteResponseSchema.parse(b).swapId);
});

test("a misspelt field is refused with a suggestion", async () => {
	await expect(quote(body({ slippageBbs: 10 }))).rejects.toMatchObject({
		code: "INVALID_REQUEST",
		details: { didYouMean: { slippageBbs: "slippageBps" } },
	});
});

const silver = { name: "silver", minimum: "1000", discountPercent: 33 };
const openQuote = (geoQuoteToken: string) =>
	openToken<SealedQuote>(sealKeys, geoQuoteToken, { purpose: "quote:evm", accountId: account.accountId });

test("a wallet whose delegation is cached pays for no delegation", async () => {
	const address = "0x2222222222222222222222222222222222222222";
	const costOf = async () => {
		const { geoQuoteToken } = (await quote(body({ walletAddress: address }))) as { geoQuoteToken: string };
		return (await openQuote(geoQuoteToken)).networkCost ?? 0n;
	};
	const first = await costOf();
	delegated.learn({ chainId: chains.origin.chainId, address, isDelegated: true });
	const later = await costOf();
	// The gas that a later open saves over a first one, as a share of the gas of a whole swap.
	expect(Number(first - later) / Number(first)).toBeCloseTo(22_512 / 290_000, 2);
});

test("a wallet with a tier is charged the discounted fee of its quote, in the output, in the token and at submit", async () => {
	const asked: unknown[] = [];
	const discounts: FeeDiscounts = {
		tierOf: async (...wallet) => {
			asked.push(wallet);
			return silver;
		},
	};
	const base = quoteResponseSchema.strict().parse(await quote(body()));
	const less = quoteResponseSchema.strict().parse(await quote(body(), discounts));
	expect(asked).toEqual([[wallet, { originChainId: 31337, accountId: account.accountId }]]);
	expect(base).not.toHaveProperty("feeDiscount");
	expect(less).toMatchObject({
		feeBps: 8.375,
		feeDiscount: { tier: "silver", discountPercent: 33, baseFeeBps: 12.5 },
	});
	const saved = BigInt(less.output) - BigInt(base.output);
	// 4.125 basis points of ten dollars, up to the rounding of both outputs.
	expect(Math.abs(Number(saved) - 4_125)).toBeLessThan(5);

	const { order, delivery, networkCost, ...sealed } = await openQuote(less.geoQuoteToken);
	expect(sealed.feeMillibps).toBe(8_375);
	const terms = { order: orderSchema.parse(order), delivery, networkCost };
	const inFlight = { sell: 0n, buy: 0n };
	expect(desk.reprice({ ...terms, feeMillibps: 8_375 }, inFlight)?.output).toBe(BigInt(less.output));
	expect(desk.reprice({ ...terms, feeMillibps: 12_500 }, inFlight)?.output).toBe(BigInt(base.output));
});

test("a fee can be discounted to zero", async () => {
	const free = { ...silver, discountPercent: 100 };
	const response = quoteResponseSchema.parse(await quote(body(), { tierOf: async () => free }));
	expect(response).toMatchObject({ feeBps: 0, feeDiscount: { discountPercent: 100, baseFeeBps: 12.5 } });
	expect((await openQuote(response.geoQuoteToken)).feeMillibps).toBe(0);
});

test("the first quote of a token holder already has the discount, exact to a thousandth of a basis point", async () => {
	const discounts = createFeeDiscounts({
		tiers: [{ ...silver, discountPercent: 25 }],
		decimals: 0,
		cacheSeconds: 300,
		timeoutMs: 1_000,
		nowMs: Date.now,
		readBalance: () => new Promise((resolve) => setImmediate(() => resolve(10n ** 9n))),
	});
	const response = quoteResponseSchema.strict().parse(await quote(body(), discounts));
	expect(response).toMatchObject({ feeBps: 9.375, feeDiscount: { tier: "silver", discountPercent: 25 } });
});

test("if the chain of the discount fails or never responds, quotes continue at the base fee", async () => {
	for (const readBalance of [() => Promise.reject(new Error("down")), () => new Promise<bigint>(() => {})]) {
		const discounts = createFeeDiscounts({
			tiers: [silver],
			decimals: 18,
			cacheSeconds: 300,
			timeoutMs: 10,
			nowMs: Date.now,
			readBalance,
		});
		for (let i = 0; i < 3; i++) {
			const response = quoteResponseSchema.strict().parse(await quote(body(), discounts));
			expect(response.feeBps).toBe(12.5);
			expect(response).not.toHaveProperty("feeDiscount");
			await new Promise(setImmediate);
		}
	}
});

test("a wallet or a recipient on the operator's deny list gets no quote, on any chain and in any form", async () => {
	const other = "0xabcdef0123456789abcdef0123456789abcdef01";
	const onSolana = `0x${"5a".repeat(32)}` as const;
	const looked: string[] = [];
	const denyList = createDenyList({
		isDenied: (address) => {
			looked.push(address);
			return address === other || address === onSolana;
		},
		close: async () => {},
	});
	const refused = (change: Record<string, unknown>) => quote(body(change), undefined, denyList);
	const denied = (side: string) => ({
		code: "NO_ROUTE",
		next: "fix_request",
		retryable: false,
		details: { reason: "denied", side },
	});
	await expect(refused({ walletAddress: getAddress(other) })).rejects.toMatchObject(denied("origin"));
	await expect(refused({ recipient: other })).rejects.toMatchObject(denied("destination"));
	const toSolana = { destinationChain: solanaChainId, outputToken: solana.settlementToken };
	await expect(refused({ ...toSolana, recipient: fromSolanaWord(onSolana) })).rejects.toMatchObject(
		denied("destination"),
	);
	expect(looked).toContain(wallet);
	quoteResponseSchema.strict().parse(await refused({}));
	// Text that is no address is refused without a lookup.
	const count = looked.length;
	await expect(refused({ walletAddress: "0x12" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
	expect(looked).toHaveLength(count);
});

test("while the deny list is silent nothing is quoted, and the answer says when to retry", async () => {
	const denyList = createDenyList({ isDenied: () => undefined, close: async () => {} });
	await expect(quote(body(), undefined, denyList)).rejects.toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		retryable: true,
		details: { upstream: "deny list", retryAfterSeconds: 2 },
	});
});
