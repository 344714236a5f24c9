import { setTimeout as sleep } from "node:timers/promises";
import type { BuildResponse } from "@geoswap/protocol";
import { buildOp, getQuote, type Quote, signDelegation, waitForSwap } from "@geoswap/sdk";
import type { Hex } from "viem";
import {
	generatePrivateKey,
	type PrivateKeyAccount,
	privateKeyToAccount,
	setSignEntropy,
} from "viem/accounts";
import { beforeAll, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { type SignedSwap, signSwap, swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const amount = 10_000_000n;

let environment: Environment;
let client: Environment["client"];
let stranger: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	[client, stranger] = await Promise.all([environment.newClient(), environment.newClient()]);
	// Signatures get random bytes, so that two over the same hash differ.
	setSignEntropy(true);
});

function intentOf(account: PrivateKeyAccount): ReturnType<typeof swapIntent> {
	const { origin, destination } = environment;
	const from = { chain: origin, token: "USDC", amount };
	return swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
}

/** Signs an op of a new wallet, ready to be submitted. */
async function signedSwap(): Promise<SignedSwap & { account: PrivateKeyAccount }> {
	const account = await environment.newWallet({ chain: environment.origin, token: "USDC", amount });
	const caller = { client, pins: environment.deployment, account };
	return { account, ...(await signSwap(caller, intentOf(account))) };
}

function sign(account: PrivateKeyAccount, { geoOpHash }: BuildResponse): Promise<Hex> {
	return account.signMessage({ message: { raw: geoOpHash as Hex } });
}

function submit({ geoOpToken }: BuildResponse, signature: unknown, caller = client): Promise<ApiAnswer> {
	return callApi(caller, "/swap/submit", { body: { geoOpToken, signature } });
}

function build({ geoQuoteToken }: Quote, authorization?: unknown): Promise<ApiAnswer> {
	return callApi(client, "/swap/build-geo-op", { body: { geoQuoteToken, authorization } });
}

/** Changes the last character. */
function altered(token: string): string {
	return token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
}

async function untilPast(time: string): Promise<void> {
	const marginMs = 250;
	await sleep(Math.max(0, Date.parse(time) - Date.now() + marginMs));
}

test.concurrent("an expired quote is 410; a malformed request is reported before that, and the state of the wallet after that [I2.1-10, I4-11, I7-9, D-errors-17, D-order-6, D-order-7, D-order-10]", async ({
	expect,
}) => {
	const account = privateKeyToAccount(generatePrivateKey());
	const quote = await getQuote(client, intentOf(account));
	expectRefusal(expect, await build(quote), "NEEDS_DELEGATION", expect.anything());
	await untilPast(quote.expiresAt);
	expectRefusal(expect, await build(quote), "QUOTE_EXPIRED", { expiredAt: quote.expiresAt });
	const unreadable = { ...quote, geoQuoteToken: altered(quote.geoQuoteToken) };
	expectRefusal(expect, await build(unreadable, "x"), "INVALID_TOKEN", { reason: "unreadable" });
	expectRefusal(expect, await build(quote, "x"), "INVALID_REQUEST", issuesAt(expect, "authorization"));
});

test.concurrent("an op can be submitted after its quote expired, and the swap settles [D-submit-1]", async ({
	expect,
}) => {
	const { quote, build: built, signature } = await signedSwap();
	expect(Date.parse(built.expiresAt)).toBeGreaterThan(Date.parse(quote.expiresAt));
	await untilPast(quote.expiresAt);
	expectRefusal(expect, await build(quote), "QUOTE_EXPIRED", { expiredAt: quote.expiresAt });
	expect((await submit(built, signature)).body).toEqual({ swapId: quote.swapId, status: "pending" });
	expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");
});

test.concurrent("an expired op cannot be submitted, and its token and signature are checked before its expiry [D-build-15, D-errors-18, D-order-6, D-order-7, D-order-8, D-submit-13]", async ({
	expect,
}) => {
	const { quote, build: built, signature } = await signedSwap();
	await untilPast(built.expiresAt);
	expectRefusal(expect, await submit(built, signature), "OP_EXPIRED", { expiredAt: built.expiresAt });
	const unreadable = { ...built, geoOpToken: altered(built.geoOpToken) };
	expectRefusal(expect, await submit(unreadable, "x"), "INVALID_TOKEN", { reason: "unreadable" });
	expectRefusal(expect, await submit(built, "x"), "INVALID_REQUEST", issuesAt(expect, "signature"));
	const strangers = await submit(built, await sign(privateKeyToAccount(generatePrivateKey()), built));
	expectRefusal(expect, strangers, "INVALID_SIGNATURE", expect.anything());
	expectRefusal(expect, await callApi(client, `/swap/status/${quote.swapId}`), "SWAP_NOT_FOUND");
});

test.concurrent("submitting again returns the same swap, with any valid signature, another build, an empty wallet, or after expiry [I4-21, I8-5, I8-6, D-order-8, D-order-9, D-submit-8, D-submit-9, D-submit-10, D-submit-11, D-submit-12]", async ({
	expect,
}) => {
	const { account, quote, build: built, signature } = await signedSwap();
	const { chainId } = environment.origin;
	const authorization = await signDelegation(client, { chainId, account, pins: environment.deployment });
	const rebuilt = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken, authorization });
	const [other, ofRebuilt] = [await sign(account, built), await sign(account, rebuilt)];
	expect(other).not.toBe(signature);
	const { swapId } = quote;
	const answers = await Promise.all([
		...Array.from({ length: 5 }, () => submit(built, signature)),
		submit(built, other),
		submit(rebuilt, ofRebuilt),
	]);
	for (const answer of answers) expect(answer.body).toEqual({ swapId, status: "pending" });
	expect((await waitForSwap(client, swapId)).status).toBe("settled");
	const settled = { swapId, status: "settled" };
	// The wallet is empty by now, so a first submit would be refused.
	expect((await submit(built, other)).body).toEqual(settled);
	await untilPast(built.expiresAt);
	for (const [token, valid] of [
		[built, signature],
		[built, other],
		[rebuilt, ofRebuilt],
	] as const) {
		expect((await submit(token, valid)).body).toEqual(settled);
	}
	const someone = privateKeyToAccount(generatePrivateKey());
	const wrong = await submit(built, await sign(someone, built));
	expectRefusal(expect, wrong, "INVALID_SIGNATURE", {
		expected: account.address,
		recovered: someone.address,
	});
	const elsewhere = await submit(built, signature, stranger);
	expectRefusal(expect, elsewhere, "INVALID_TOKEN", { reason: "other_account" });
});
