import { serverCommand } from "@geoswap/devnet";
import type { BuildResponse, BuildSolanaResponse } from "@geoswap/protocol";
import { buildOp, type Client, createClient, getQuote, waitForSwap } from "@geoswap/sdk";
import type { Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { signTransaction, solanaSteps, tenUsdc } from "../caller/solana-caller.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { resealToken, sealKeysOf } from "../trouble/reseal-token.ts";
import {
	changedCharacters,
	type Mutation,
	mixtures,
	otherSpellings,
	shortened,
} from "../trouble/token-mutations.ts";
import { signAuthorization } from "../wallet/sign-authorization.ts";

/** Every n-th character of a token is changed, to this many others. */
const size = process.env.GEOSWAP_FULL ? { everyNth: 1, others: 5 } : { everyNth: 6, others: 1 };
const inParallel = 32;

type Purpose = "quote:evm" | "quote:solana" | "op:evm" | "op:solana";
type Endpoint = { path: string; field: "geoQuoteToken" | "geoOpToken" };
const endpoints: Record<Purpose, Endpoint> = {
	"quote:evm": { path: "/swap/build-geo-op", field: "geoQuoteToken" },
	"quote:solana": { path: "/swap/build-solana-tx", field: "geoQuoteToken" },
	"op:evm": { path: "/swap/submit", field: "geoOpToken" },
	"op:solana": { path: "/swap/submit-solana", field: "geoOpToken" },
};
const purposes = Object.keys(endpoints) as Purpose[];
type Tokens = Record<Purpose, string>;

let environment: Environment;
/**
 * Client and colleague are of one account. Thousands of requests are sent, for which the usual rates would take
 * minutes.
 */
let client: Client;
let colleague: Client;
let stranger: Client;
/** The account's tokens of two swaps of each kind. */
let tokens: Tokens;
let otherTokens: Tokens;
beforeAll(async () => {
	environment = sharedEnvironment();
	const name = `matrix-${generatePrivateKey().slice(2, 14)}`;
	client = await newClient(name);
	colleague = await newClient(name);
	stranger = await newClient(`${name}-stranger`);
	[tokens, otherTokens] = await Promise.all([issueTokens(), issueTokens()]);
});

async function newClient(account: string): Promise<Client> {
	const args = ["keys", "create", "--account", account, "--json", "--rate", "build=5000", "submit=5000"];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, args));
	return createClient({ baseUrl: environment.baseUrl, apiKey });
}

async function issueTokens(): Promise<Tokens> {
	const { origin, solana } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: tenUsdc });
	const { geoQuoteToken } = await getQuote(client, evmIntent(account));
	const authorization = await signAuthorization(origin, account);
	const { geoOpToken } = await buildOp(client, { geoQuoteToken, authorization });
	const scene = await solanaSteps(environment, client).scene(await solana.newWallet({ usdc: tenUsdc }));
	return {
		"quote:evm": geoQuoteToken,
		"op:evm": geoOpToken,
		"quote:solana": scene.quote.geoQuoteToken,
		"op:solana": scene.built.geoOpToken,
	};
}

function evmIntent(account: { address: string }) {
	const { origin, destination } = environment;
	const from = { chain: origin, token: "USDC", amount: tenUsdc };
	return swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
}

/** Sends a token in a body that is otherwise malformed, because a token that does not open is reported first. */
function send({ path, field }: Endpoint, token: string, caller: Client): Promise<ApiAnswer> {
	const body = { [field]: token, signature: "x", signedTransaction: "x", authorization: "x" };
	return callApi(caller, path, { body });
}

/** Expects that none of them opens, and returns their number. */
async function expectUnreadable(
	expect: ExpectStatic,
	endpoint: Endpoint,
	mutations: readonly Mutation[],
	caller = client,
): Promise<number> {
	const queue = mutations.values();
	const wrong: string[] = [];
	const work = async () => {
		for (const { how, token } of queue) {
			const { status, body } = await send(endpoint, token, caller);
			const answer = JSON.stringify([status, body?.code, body?.details]);
			if (answer !== '[401,"INVALID_TOKEN",{"reason":"unreadable"}]') wrong.push(`${how}: ${answer}`);
		}
	};
	await Promise.all(Array.from({ length: inParallel }, work));
	expect(wrong).toEqual([]);
	return mutations.length;
}

/**
 * Expects the token to have opened, so the error is about its age or later fields. A Solana build needs nothing but the
 * token.
 */
function expectOpened(expect: ExpectStatic, { status, body }: ApiAnswer): void {
	expect(["built", "INVALID_REQUEST", "QUOTE_EXPIRED"]).toContain(status === 200 ? "built" : body?.code);
}

test("a token with a changed or missing byte is 401 at its endpoint, regardless of its purpose [I2.1-6, I4-12, I5-7, I7-11, D-conventions-23, D-errors-10]", {
	timeout: 600_000,
}, async ({ expect }) => {
	const counts: Record<string, number> = {};
	for (const purpose of purposes) {
		const token = tokens[purpose];
		const mutations = [
			...changedCharacters(token, size),
			...shortened(token, { everyNth: 5 * size.everyNth }),
		];
		counts[purpose] = await expectUnreadable(expect, endpoints[purpose], mutations);
	}
	console.log("tokens with a byte changed or cut off, each 401:", counts);
});

test("a token has one spelling, so other padding, whitespace, case, encoding or length, and mixes of two tokens, are 401 at every endpoint [D-conventions-23]", async ({
	expect,
}) => {
	let count = 0;
	for (const purpose of purposes) {
		const token = tokens[purpose];
		const mutations = [
			...otherSpellings(token),
			...mixtures(token, otherTokens[purpose]),
			...purposes.flatMap((other) => (other === purpose ? [] : mixtures(token, tokens[other]))),
		];
		for (const endpoint of Object.values(endpoints)) {
			count += await expectUnreadable(expect, endpoint, mutations);
		}
		count += await expectUnreadable(expect, endpoints[purpose], otherSpellings(token), stranger);
	}
	console.log(`other spellings and mixtures of tokens, each 401: ${count}`);
});

test("a token is valid only at the endpoint of its purpose and for its account, with any key of the account [I2.1-7, I7-11, D-conventions-20, D-conventions-21, D-conventions-24]", async ({
	expect,
}) => {
	for (const sealedFor of purposes) {
		for (const purpose of purposes) {
			for (const caller of [client, colleague, stranger]) {
				const answer = await send(endpoints[purpose], tokens[sealedFor], caller);
				const refuse = (details: object) => expectRefusal(expect, answer, "INVALID_TOKEN", details);
				const endpoint = `POST ${endpoints[sealedFor].path}`;
				if (purpose !== sealedFor) refuse({ reason: "wrong_endpoint", endpoint });
				else if (caller === stranger) refuse({ reason: "other_account" });
				else expectOpened(expect, answer);
			}
		}
	}
});

test("a token whose header names an unknown key, another key or another algorithm is 401, even if its seal is right", async ({
	expect,
}) => {
	const [sealing, earlier] = sealKeysOf(environment.serverEnvironment);
	if (!sealing || !earlier) throw new Error("an environment has two seal keys");
	const usual = { alg: "dir", enc: "A256GCM", kid: sealing.kid };
	const headers = {
		"an unknown key": { ...usual, kid: "unknown" },
		"no key": { alg: "dir", enc: "A256GCM" },
		"a key that is no text": { ...usual, kid: [sealing.kid] },
		"the other key": { ...usual, kid: earlier.kid },
		"the key in other case": { ...usual, kid: sealing.kid.toUpperCase() },
		"no algorithm": { enc: "A256GCM", kid: sealing.kid },
		"alg none": { ...usual, alg: "none" },
		"alg A256KW": { ...usual, alg: "A256KW" },
		"alg PBES2": { ...usual, alg: "PBES2-HS256+A128KW", p2s: "AAAA", p2c: 1 },
		"enc A128GCM": { ...usual, enc: "A128GCM" },
		"enc A256CBC-HS512": { ...usual, enc: "A256CBC-HS512" },
		"a critical extension": { ...usual, crit: ["exp"], exp: 1 },
		"a key of its own": {
			...usual,
			jwk: { kty: "oct", k: sealing.secret.toString("base64url") },
			kid: "jwk",
		},
	};
	let count = 0;
	for (const purpose of purposes) {
		const token = tokens[purpose];
		const [, ...sealed] = token.split(".");
		const mutations = Object.entries(headers).flatMap(([how, header]): Mutation[] => [
			{
				how: `${how}, sealed so`,
				token: resealToken(token, { openWith: sealing.secret, sealWith: sealing.secret, header }),
			},
			// The content sealed under the usual header, with this header instead.
			{
				how: `${how}, put before it`,
				token: [Buffer.from(JSON.stringify(header)).toString("base64url"), ...sealed].join("."),
			},
		]);
		count += await expectUnreadable(expect, endpoints[purpose], mutations);

		// This token is newly sealed with a key that was retired before.
		const before = resealToken(token, {
			openWith: sealing.secret,
			sealWith: earlier.secret,
			header: { ...usual, kid: earlier.kid },
		});
		const retired = { how: "a retired key", token: before };
		count += await expectUnreadable(expect, endpoints[purpose], [retired, ...mixtures(before, token)]);
	}
	console.log(`tokens under another header, each 401: ${count}`);
});

test("an unchanged token works from quote to settled, with any key of its account and with any valid JSON escapes [I2.1-1]", async ({
	expect,
}) => {
	const { origin, solana } = environment;
	const expectOk = ({ status, body }: ApiAnswer): Record<string, unknown> => {
		expect(status, JSON.stringify(body)).toBe(200);
		return body ?? {};
	};
	const settle = async (caller: Client, path: string, body: Record<string, string>) => {
		const submitted = expectOk(await callApi(caller, path, { body: escaped(body) }));
		const again = expectOk(await callApi(client, path, { body }));
		expect(again.swapId).toBe(submitted.swapId);
		expect(await waitForSwap(caller, String(submitted.swapId))).toMatchObject({ status: "settled" });
	};
	const fromEvm = async () => {
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount: tenUsdc });
		const { geoQuoteToken } = await getQuote(client, evmIntent(account));
		const authorization = await signAuthorization(origin, account);
		const body = `${escaped({ geoQuoteToken }).slice(0, -1)},"authorization":${JSON.stringify(authorization)}}`;
		const built = expectOk(await callApi(colleague, endpoints["quote:evm"].path, { body }));
		const { geoOpToken, geoOpHash } = built as BuildResponse;
		const signature = await account.signMessage({ message: { raw: geoOpHash as Hex } });
		await settle(colleague, endpoints["op:evm"].path, { geoOpToken, signature });
	};
	const fromSolana = async () => {
		const account = await solana.newWallet({ usdc: tenUsdc });
		const { geoQuoteToken } = await solanaSteps(environment, client).quote(account);
		const body = escaped({ geoQuoteToken });
		const built = expectOk(await callApi(colleague, endpoints["quote:solana"].path, { body }));
		const { geoOpToken, geoOp } = built as BuildSolanaResponse;
		const signedTransaction = await signTransaction(account, { geoOp });
		await settle(colleague, endpoints["op:solana"].path, { geoOpToken, signedTransaction });
	};
	await Promise.all([fromEvm(), fromSolana()]);
});

/** Returns equivalent JSON with every character of every string escaped. */
function escaped(body: Record<string, string>): string {
	const spell = (text: string) =>
		Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
	const fields = Object.entries(body).map(([name, value]) => `"${name}":"${spell(value)}"`);
	return `{${fields.join(",")}}`;
}
