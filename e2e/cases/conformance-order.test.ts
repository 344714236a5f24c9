import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "@geoswap/devnet";
import type { BuildResponse } from "@geoswap/protocol";
import { buildOp, getQuote, type Quote } from "@geoswap/sdk";
import { getAddress, type Hex, parseEther, parseUnits } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";

const otherProvider = getAddress(`0x${"5a".repeat(20)}`);
const ten = parseUnits("10", 6);

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

function quoteOf(
	account: PrivateKeyAccount,
	{
		input = "USDC",
		output = "USDC",
		amount = ten,
		...rest
	}: { input?: string; output?: string; amount?: bigint; slippageBps?: number } = {},
): Promise<Quote> {
	const { origin, destination } = environment;
	const from = { chain: origin, token: input, amount };
	return getQuote(client, swapIntent({ from, to: { chain: destination, token: output }, account, ...rest }));
}

function build({ geoQuoteToken }: { geoQuoteToken: string }, authorization?: unknown): Promise<ApiAnswer> {
	return callApi(client, "/swap/build-geo-op", { body: { geoQuoteToken, authorization } });
}

async function submit(account: PrivateKeyAccount, { geoOpHash, geoOpToken }: BuildResponse) {
	const signature = await account.signMessage({ message: { raw: geoOpHash as Hex } });
	return callApi(client, "/swap/submit", { body: { geoOpToken, signature } });
}

test.concurrent("a request with every mistake is refused for its route first, then key, rate, type, size, JSON, fields and token [D-conventions-22, D-order-1, D-order-2, D-order-3, D-order-4, D-order-5, D-order-6]", async ({
	expect,
}) => {
	const args = ["keys", "create", "--account", `order-${generatePrivateKey().slice(2, 14)}`, "--json"];
	const limited = [...args, "--rate", "build=0.05"];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, limited));
	const path = "/swap/build-geo-op";
	const large = "[".repeat(33_000);
	const ask = (key: string | undefined, body: string, type = "application/json", at = path) =>
		callApi(client, at, { body, headers: { "x-api-key": key, "content-type": type } });
	// This uses the only request that the key has.
	expect((await ask(apiKey, "{}")).status).toBe(400);

	expectRefusal(expect, await ask("x", large, "text/plain", "/swap/nowhere"), "NOT_FOUND");
	expectRefusal(expect, await ask("x", large, "text/plain"), "UNAUTHORIZED");
	expectRefusal(expect, await ask(`${apiKey}x`, large, "text/plain"), "UNAUTHORIZED");
	// On a busy machine one more request may be allowed by now.
	let above = await ask(apiKey, large, "text/plain");
	for (let i = 0; i < 5 && above.status !== 429; i++) above = await ask(apiKey, large, "text/plain");
	const retryAfterSeconds = Number(above.headers["retry-after"]);
	expectRefusal(expect, above, "RATE_LIMITED", { reason: "rate", retryAfterSeconds });
	expectRefusal(expect, await ask(client.apiKey, large, "text/plain"), "UNSUPPORTED_MEDIA_TYPE");
	expectRefusal(expect, await ask(client.apiKey, large), "BODY_TOO_LARGE");
	expectRefusal(expect, await ask(client.apiKey, "["), "INVALID_REQUEST", issuesAt(expect, ""));
	const submitting = { body: { geoOpToken: "x", signature: 1 } };
	const fields = await callApi(client, "/swap/submit", submitting);
	expectRefusal(expect, fields, "INVALID_REQUEST", issuesAt(expect, "signature"));
	for (const [at, body] of [
		[path, { geoQuoteToken: "x", authorization: "malformed" }],
		["/swap/submit", { geoOpToken: "x", signature: "malformed" }],
		["/swap/submit-solana", { geoOpToken: "x", signedTransaction: "malformed" }],
	] as const) {
		expectRefusal(expect, await callApi(client, at, { body }), "INVALID_TOKEN", { reason: "unreadable" });
	}
});

test.concurrent("a malformed authorization is reported before expiry, and expiry before the delegation of the wallet [D-order-7, D-order-10]", async ({
	expect,
}) => {
	const wallets = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
	const [none, others] = wallets as [PrivateKeyAccount, PrivateKeyAccount];
	await delegateWallet(environment.origin, others, otherProvider);
	const [ofNone, ofOthers] = await Promise.all([quoteOf(none), quoteOf(others)]);
	expectRefusal(expect, await build(ofNone), "NEEDS_DELEGATION", expect.anything());
	expectRefusal(expect, await build(ofOthers), "UNSUPPORTED_DELEGATION", { delegatedTo: otherProvider });
	const marginMs = 250;
	await sleep(Math.max(0, Date.parse(ofOthers.expiresAt) - Date.now() + marginMs));
	for (const quote of [ofNone, ofOthers]) {
		expectRefusal(expect, await build(quote), "QUOTE_EXPIRED", { expiredAt: quote.expiresAt });
		expectRefusal(expect, await build(quote, "x"), "INVALID_REQUEST", issuesAt(expect, "authorization"));
	}
});

test.concurrent("an op that would revert is refused for that before its price, and for its price once that is fixed [D-order-14]", async ({
	expect,
}) => {
	const { origin } = environment;
	const large = parseUnits("5000", 6);
	const newWallet = async (token: string, amount: bigint) => {
		const account = await environment.newWallet({ chain: origin, token, amount, ethWei: parseEther("1") });
		await delegateWallet(origin, account);
		return account;
	};
	const [whale, account] = await Promise.all([newWallet("USDC", large), newWallet("USDT", ten)]);
	const [whaleQuote, quote] = await Promise.all([
		quoteOf(whale, { amount: large, output: "ORB" }),
		quoteOf(account, { input: "USDT", output: "ORB", slippageBps: 1 }),
	]);
	const [ofWhale, built] = await Promise.all([buildOp(client, whaleQuote), buildOp(client, quote)]);
	// The wallet's delegate refuses what was signed by personal_sign.
	await delegateWallet(origin, account, origin.deployment.contracts.typedDelegate);
	expect((await submit(whale, ofWhale)).status).toBe(200);
	const reason = expect.stringMatching(/.{5,}/);
	expectRefusal(expect, await submit(account, built), "SIMULATION_FAILED", { reason });
	await delegateWallet(origin, account);
	expectRefusal(expect, await submit(account, built), "LIQUIDITY_CHANGED", { reason: "price" });
});
