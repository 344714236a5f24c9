import { serverCommand } from "@geoswap/devnet";
import { buildOp, createClient, getQuote } from "@geoswap/sdk";
import type { PrivateKeyAccount } from "viem";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { type ApiAnswer, callApi } from "../call-api.ts";
import { swapIntent } from "../do-swap.ts";
import type { Environment } from "../environment.ts";
import { expectRefusal } from "../expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { signAuthorization } from "../sign-authorization.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const inParallel = 32;
const amount = 10_000_000n;
const unreadable = [401, "INVALID_TOKEN", { reason: "unreadable" }];

type Endpoint = { path: string; field: string };
const buildEndpoint: Endpoint = { path: "/swap/build-geo-op", field: "geoQuoteToken" };
const submitEndpoint: Endpoint = { path: "/swap/submit", field: "geoOpToken" };

let environment: Environment;
/** Thousands of requests come at once here: with the usual rates that would take minutes. */
let client: Environment["client"];
let geoQuoteToken: string;
let geoOpToken: string;
beforeAll(async () => {
	environment = sharedEnvironment();
	const args = ["keys", "create", "--account", `tokens-${Date.now()}`, "--json"];
	const rates = ["--rate", "build=2000", "submit=2000"];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, [...args, ...rates]));
	client = createClient({ baseUrl: environment.baseUrl, apiKey });
	const account = await environment.newWallet({ chain: environment.origin, token: "USDC", amount });
	geoQuoteToken = await quoteToken(account);
	const authorization = await signAuthorization(environment.origin, account);
	geoOpToken = (await buildOp(client, { geoQuoteToken, authorization })).geoOpToken;
});

async function quoteToken(account: PrivateKeyAccount): Promise<string> {
	const { origin, destination } = environment;
	const from = { chain: origin, token: "USDC", amount };
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	return (await getQuote(client, intent)).geoQuoteToken;
}

/** All else in the body is malformed: a token that does not open is said first. */
function send({ path, field }: Endpoint, token: unknown, caller = client): Promise<ApiAnswer> {
	return callApi(caller, path, { body: { [field]: token, signature: "x", authorization: "x" } });
}

async function expectUnreadable(expect: ExpectStatic, endpoint: Endpoint, tokens: string[]): Promise<void> {
	const queue = tokens.values();
	const work = async () => {
		for (const token of queue) {
			const answer = await send(endpoint, token);
			expect([answer.status, answer.body?.code, answer.body?.details], token).toEqual(unreadable);
		}
	};
	await Promise.all(Array.from({ length: inParallel }, work));
}

/** The same but for one character, at every place, and every other last character. */
function alterations(token: string): string[] {
	const at = (i: number, character: string) => token.slice(0, i) + character + token.slice(i + 1);
	const next = (character: string) => alphabet.charAt((alphabet.indexOf(character) + 1) % alphabet.length);
	const everywhere = Array.from(token, (character, i) => at(i, next(character)));
	const last = token.length - 1;
	const lasts = Array.from(alphabet).filter((character) => character !== token.charAt(last));
	return [...new Set([...everywhere, ...lasts.map((character) => at(last, character))])];
}

/** The same bytes to a lenient decoder, or a part of them. */
function spellings(token: string): string[] {
	const parts = token.split(".");
	return [
		...["=", "==", " ", "\n", "\r\n", "\u0000", ".", "A"].flatMap((extra) => [token + extra, extra + token]),
		...parts.map((_, i) => parts.map((part, j) => (i === j ? `${part}=` : part)).join(".")),
		...parts.map((_, i) => parts.map((part, j) => (i === j ? ` ${part}` : part)).join(".")),
		...parts.map((_, i) => parts.filter((__, j) => i !== j).join(".")),
		...[token.slice(0, -1), token.slice(1), token.slice(0, 100), `${token.slice(0, 50)}\n${token.slice(50)}`],
		...[token.replaceAll("-", "+").replaceAll("_", "/"), token.toUpperCase(), token + token],
		...["x", "....", "A".repeat(8 * 1024), "A".repeat(9 * 1024), "null", "{}", "é", "💥"],
	].filter((spelled) => spelled !== token);
}

test("a quote token altered at any byte is 401", async ({ expect }) => {
	await expectUnreadable(expect, buildEndpoint, alterations(geoQuoteToken));
});

test("an op token altered at any byte is 401", async ({ expect }) => {
	await expectUnreadable(expect, submitEndpoint, alterations(geoOpToken));
});

test("padding, whitespace, parts and other spellings of a token are 401", async ({ expect }) => {
	await expectUnreadable(expect, buildEndpoint, spellings(geoQuoteToken));
	await expectUnreadable(expect, submitEndpoint, spellings(geoOpToken));
});

test("a token opens for its own endpoint only", async ({ expect }) => {
	const wrongEndpoint = { reason: "wrong_endpoint" };
	expectRefusal(expect, await send(submitEndpoint, geoQuoteToken), "INVALID_TOKEN", wrongEndpoint);
	expectRefusal(expect, await send(buildEndpoint, geoOpToken), "INVALID_TOKEN", wrongEndpoint);
});

test("a token opens for its own account only", async ({ expect }) => {
	const stranger = await environment.newClient();
	const otherAccount = { reason: "other_account" };
	expectRefusal(expect, await send(buildEndpoint, geoQuoteToken, stranger), "INVALID_TOKEN", otherAccount);
	expectRefusal(expect, await send(submitEndpoint, geoOpToken, stranger), "INVALID_TOKEN", otherAccount);
});

test("a token must be a non-empty string", async ({ expect }) => {
	for (const endpoint of [buildEndpoint, submitEndpoint]) {
		for (const wrong of [undefined, null, "", 1, {}, [geoQuoteToken]]) {
			const answer = await send(endpoint, wrong);
			expect([answer.status, answer.body?.code]).toEqual([400, "INVALID_REQUEST"]);
			expect(answer.body?.details).toMatchObject({ issues: [{ path: endpoint.field }] });
		}
	}
	const unsigned = await callApi(client, "/swap/submit", { body: { geoOpToken: "x", signature: null } });
	expect(unsigned.body).toMatchObject({
		code: "INVALID_REQUEST",
		details: { issues: [{ path: "signature" }] },
	});
});
