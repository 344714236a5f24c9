import { serverCommand } from "@geoswap/devnet";
import { createClient, getQuote } from "@geoswap/sdk";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { solanaSteps, tenUsdc } from "../caller/solana-caller.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

type Endpoint = { path: string; field: "geoQuoteToken" | "geoOpToken" };
const buildEvm: Endpoint = { path: "/swap/build-geo-op", field: "geoQuoteToken" };
const buildSolana: Endpoint = { path: "/swap/build-solana-tx", field: "geoQuoteToken" };
const submitEvm: Endpoint = { path: "/swap/submit", field: "geoOpToken" };
const submitSolana: Endpoint = { path: "/swap/submit-solana", field: "geoOpToken" };

let environment: Environment;
/** A client with high rates, because the tests here send hundreds of requests concurrently. */
let client: Environment["client"];
let tokens: Record<"quoteEvm" | "quoteSolana" | "opSolana", string>;
beforeAll(async () => {
	environment = sharedEnvironment();
	const { origin, destination, solana } = environment;
	const name = `solana-tokens-${generatePrivateKey().slice(2, 14)}`;
	const args = ["keys", "create", "--account", name, "--json", "--rate", "build=2000", "submit=2000"];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, args));
	client = createClient({ baseUrl: environment.baseUrl, apiKey });

	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: tenUsdc });
	const from = { chain: origin, token: "USDC", amount: tenUsdc };
	const quote = await getQuote(
		client,
		swapIntent({ from, to: { chain: destination, token: "USDC" }, account }),
	);
	const scene = await solanaSteps(environment, client).scene(await solana.newWallet({ usdc: tenUsdc }));
	tokens = {
		quoteEvm: quote.geoQuoteToken,
		quoteSolana: scene.quote.geoQuoteToken,
		opSolana: scene.built.geoOpToken,
	};
});

/** Sends a token in a body that is otherwise malformed, because a token that does not open is reported first. */
function send({ path, field }: Endpoint, token: unknown, caller = client): Promise<ApiAnswer> {
	const body = { [field]: token, signature: "x", signedTransaction: "x", authorization: "x" };
	return callApi(caller, path, { body });
}

test.concurrent("without a known key the Solana endpoints return 401", async ({ expect }) => {
	for (const apiKey of ["", "x", `${client.apiKey}x`]) {
		for (const [endpoint, token] of [
			[buildSolana, tokens.quoteSolana],
			[submitSolana, tokens.opSolana],
			[buildSolana, undefined],
			[submitSolana, undefined],
		] as const) {
			expectRefusal(expect, await send(endpoint, token, { ...client, apiKey }), "UNAUTHORIZED");
		}
	}
});

test.concurrent("token and transaction must be strings, the token not empty, and a wrong one is named [I4-13, I4-22, I4-23, I8-3, D-order-5]", async ({
	expect,
}) => {
	const expectAsked = (answer: ApiAnswer, ...paths: string[]) => {
		expect([answer.status, answer.body?.code]).toEqual([400, "INVALID_REQUEST"]);
		expect(answer.body?.details).toMatchObject(issuesAt(expect, ...paths) as object);
	};
	for (const endpoint of [buildSolana, submitSolana]) {
		for (const wrong of [undefined, null, "", 1, {}, [tokens.quoteSolana]]) {
			expectAsked(await send(endpoint, wrong), endpoint.field);
		}
	}
	for (const signedTransaction of [undefined, null, 1, {}, ["x"]]) {
		const body = { geoOpToken: "x", signedTransaction };
		expectAsked(await callApi(client, submitSolana.path, { body }), "signedTransaction");
	}
	expectAsked(await callApi(client, submitSolana.path, { body: {} }), "geoOpToken", "signedTransaction");
});

test.concurrent("unknown fields are ignored in a Solana build and submit [D-conventions-15]", async ({
	expect,
}) => {
	const unknown = { slipage: 1, signature: null, nested: { a: [null] } };
	const build = { geoQuoteToken: tokens.quoteEvm, ...unknown };
	const built = await callApi(client, buildSolana.path, { body: build });
	expectRefusal(expect, built, "INVALID_TOKEN", {
		reason: "wrong_endpoint",
		endpoint: "POST /swap/build-geo-op",
	});
	const submit = { geoOpToken: tokens.opSolana, signedTransaction: "x", ...unknown };
	const submitted = await callApi(client, submitSolana.path, { body: submit });
	expectRefusal(expect, submitted, "INVALID_REQUEST", issuesAt(expect, "signedTransaction"));
});

test.concurrent("builds of both kinds share a key's rate, and so do submits of both kinds", async ({
	expect,
}) => {
	const name = `solana-slow-${generatePrivateKey().slice(2, 14)}`;
	const args = ["keys", "create", "--account", name, "--json", "--rate", "build=0.1", "submit=0.1"];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, args));
	for (const endpoints of [
		[buildEvm, buildSolana],
		[submitEvm, submitSolana],
	]) {
		// The burst, twenty seconds' worth, is two calls, one of each kind.
		for (const endpoint of endpoints) {
			expect((await send(endpoint, undefined, { ...client, apiKey })).status).toBe(400);
		}
		for (const endpoint of endpoints) {
			const refused = await send(endpoint, "x", { ...client, apiKey });
			const retryAfterSeconds = Number(refused.headers["retry-after"]);
			expectRefusal(expect, refused, "RATE_LIMITED", { reason: "rate", retryAfterSeconds });
		}
	}
});
