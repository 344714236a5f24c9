import { quoteResponseSchema } from "@geoswap/protocol";
import { getQuote, type Quote } from "@geoswap/sdk";
import { generateKeyPairSigner } from "@solana/kit";
import { getAddress, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import type { AnyChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";

const account = privateKeyToAccount(generatePrivateKey());
const otherProvider = getAddress(`0x${"5a".repeat(20)}`);
const whole = /^[1-9]\d*$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const usd = /^\d+\.\d{2,}$/;

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

function quote({
	input = "USDC",
	amount = parseUnits("100", 6),
	to = { chain: environment.destination as AnyChain, token: "USDC" },
	wallet = account,
	...rest
}: {
	input?: string;
	amount?: bigint;
	to?: { chain: AnyChain; token: string };
	wallet?: { address: string };
	recipient?: string;
	slippageBps?: number;
} = {}): Promise<Quote> {
	const from = { chain: environment.origin, token: input, amount };
	return getQuote(client, swapIntent({ from, to, account: wallet, ...rest }));
}

test.concurrent("a quote has each of its fields in the documented form, in JSON with status 200 [I1-1, I1-4, I2.2-1, I2.2-2, I2.2-3, I2.2-5, I2.2-8, I4-2, I4-3, D-conventions-2, D-conventions-17, D-conventions-18, D-conventions-25, D-quote-response-1, D-quote-response-3, D-quote-response-4, D-quote-response-6, D-quote-response-14, D-quote-response-15, D-quote-response-17, D-quote-response-18]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const from = { chain: origin, token: "USDC", amount: parseUnits("100", 6) };
	const intent = swapIntent({ from, to: { chain: destination, token: "ORB" }, account });
	const before = Date.now();
	const { status, headers, body } = await callApi(client, "/swap/quote", { body: intent });
	expect(status).toBe(200);
	expect(headers["content-type"]).toMatch(/^application\/json\b/);
	expect(body).toEqual({
		geoQuoteToken: expect.stringMatching(/./),
		expiresAt: expect.stringMatching(time),
		origin: "evm",
		amount: String(from.amount),
		output: expect.stringMatching(whole),
		minOutput: expect.stringMatching(whole),
		feeBps: 12.5,
		inputUsd: expect.stringMatching(usd),
		outputUsd: expect.stringMatching(usd),
		priceImpactBps: expect.any(Number),
		swapId: expect.stringMatching(/^swp_/),
		recipient: account.address,
		slippageBps: 300,
		etaSeconds: expect.any(Number),
		summary: expect.stringMatching(/^100 USDC on .+ -> about [\d.]+ ORB on .+$/),
	});
	const answer = quoteResponseSchema.parse(body);
	expect(answer.etaSeconds).toBeGreaterThan(0);
	expect(answer.summary).not.toContain("\n");
	const expiresMs = Date.parse(answer.expiresAt);
	expect(expiresMs).toBeGreaterThanOrEqual(before + 30_000);
	expect(expiresMs).toBeLessThanOrEqual(Date.now() + 30_000);
	expect(BigInt(answer.minOutput)).toBe((BigInt(answer.output) * 9_700n) / 10_000n);
	expect(await origin.publicClient.getChainId()).toBe(intent.originChain);
	// The swap with this id was never submitted.
	const status404 = await callApi(client, `/swap/status/${answer.swapId}`);
	expect([status404.status, status404.body?.code]).toEqual([404, "SWAP_NOT_FOUND"]);
});

test.concurrent("the minimum output is the output less the slippage, by default 50 bps between stables and 300 bps otherwise [D-quote-request-11, D-quote-request-12, D-quote-response-4, D-quote-response-16]", async ({
	expect,
}) => {
	const { destination } = environment;
	for (const [token, slippageBps] of [
		["USDC", 50n],
		["USDT", 50n],
		["ORB", 300n],
		["ETH", 300n],
	] as const) {
		const answer = await quote({ to: { chain: destination, token } });
		expect([token, answer.slippageBps]).toEqual([token, Number(slippageBps)]);
		expect(BigInt(answer.minOutput)).toBe((BigInt(answer.output) * (10_000n - slippageBps)) / 10_000n);
	}
	const own = await quote({ slippageBps: 123 });
	expect(own.slippageBps).toBe(123);
});

test.concurrent("the price impact follows from both values in USD, rounded to the worse side, and all three come together [I2.2-8, I2.2-9, I2.2-10, D-quote-response-9, D-quote-response-10]", async ({
	expect,
}) => {
	const { destination } = environment;
	for (const whole of [1_000, 2_345, 10_001, 54_321, 99_999]) {
		for (const token of ["USDC", "ORB"]) {
			const amount = parseUnits(String(whole), 6);
			const answer = await quote({ amount, to: { chain: destination, token } });
			const { inputUsd, outputUsd, priceImpactBps } = answer;
			expect([inputUsd, outputUsd, priceImpactBps]).not.toContain(undefined);
			const exact = ((Number(outputUsd) - Number(inputUsd)) / Number(inputUsd)) * 10_000;
			// Both values are rounded down to cents.
			const tolerance = (0.01 / Number(inputUsd)) * 10_000;
			expect(priceImpactBps).toBeLessThanOrEqual(exact + tolerance);
			expect(priceImpactBps).toBeGreaterThan(exact - 1 - tolerance);
			expect(Number.isInteger(priceImpactBps)).toBe(true);
			expect(priceImpactBps).toBeLessThan(0);
		}
	}
});

test.concurrent("HIGH_PRICE_IMPACT is given at -300 basis points and below, and not above [I2.2-11, I2.2-12, I7-13, D-quote-response-11, D-quote-response-12]", async ({
	expect,
}) => {
	const { solana } = environment;
	const recipient = (await generateKeyPairSigner()).address;
	// Creating the recipient's account costs about 31 cents, so the smaller the swap, the worse.
	const cents = [200, 500, 800, 900, 1_000, 1_050, 1_100, 1_150, 1_200, 1_250, 1_300, 1_500, 2_000, 5_000];
	const answers = await Promise.all(
		cents.map((worth) =>
			quote({ amount: BigInt(worth) * 10_000n, to: { chain: solana, token: "USDC" }, recipient }),
		),
	);
	for (const { priceImpactBps = 0, warnings } of answers) {
		const expected = [{ code: "HIGH_PRICE_IMPACT", message: expect.stringMatching(/.{10,}/) }];
		expect([priceImpactBps, warnings]).toEqual([
			priceImpactBps,
			priceImpactBps <= -300 ? expected : undefined,
		]);
	}
	const warned = answers.filter(({ warnings }) => warnings).length;
	expect([warned > 0, warned < answers.length]).toEqual([true, true]);
});

test.concurrent("a wallet is quoted without a delegation, with another provider's, and if it is a contract [D-quote-response-25, D-quote-response-26]", async ({
	expect,
}) => {
	const { origin } = environment;
	const [none, others, contract] = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()));
	if (!none || !others || !contract) throw new Error("three");
	await Promise.all([
		delegateWallet(origin, others, otherProvider),
		origin.testClient.setCode({ address: contract.address, bytecode: "0x6001" }),
	]);
	for (const wallet of [none, others, contract]) {
		expect((await quote({ wallet })).recipient).toBe(wallet.address);
	}
});

test.concurrent("the same request twice gives two quotes with two swap ids [I8-10]", async ({ expect }) => {
	const [one, other] = await Promise.all([quote(), quote()]);
	expect(one.geoQuoteToken).not.toBe(other.geoQuoteToken);
	expect(one.swapId).not.toBe(other.swapId);
});
