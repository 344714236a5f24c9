import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "@geoswap/devnet";
import type { QuoteRequestBody } from "@geoswap/protocol";
import { getQuote } from "@geoswap/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { type ApiCall, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const keyed = [
	["POST", "/swap/quote"],
	["GET", "/swap/delegation"],
	["POST", "/swap/build-geo-op"],
	["POST", "/swap/build-solana-tx"],
	["POST", "/swap/submit"],
	["POST", "/swap/submit-solana"],
	["GET", "/swap/status/swp_x"],
] as const;
const posts = keyed.filter(([method]) => method === "POST").map(([, path]) => path);

/** Time for which a revoked key may still work. */
const revokedWithinMs = 2_000;

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

const call = (path: string, options?: ApiCall) => callApi(client, path, options);

/** Sends many requests concurrently, repeatedly, until some answers differ from the usual status, and returns those. */
async function untilRefused(
	send: () => ReturnType<typeof callApi>,
	{ usual }: { usual: number },
): ReturnType<typeof callApi> extends Promise<infer Answer> ? Promise<Answer[]> : never {
	for (let round = 0; round < 20; round++) {
		const answers = await Promise.all(Array.from({ length: 100 }, send));
		const others = answers.filter(({ status }) => status !== usual);
		if (others.length > 0) return others;
	}
	throw new Error(`2,000 requests at once, and all were answered with ${usual}`);
}

/** Returns the body of a quote that succeeds. */
function goodQuote(): QuoteRequestBody {
	const { origin, destination } = environment;
	return swapIntent({
		from: { chain: origin, token: "USDC", amount: 10_000_000n },
		to: { chain: destination, token: "USDC" },
		account: privateKeyToAccount(generatePrivateKey()),
	});
}

test.concurrent.for(keyed)(
	"%s %s without a valid key is 401, regardless of other mistakes [I4-1, I5-1, D-errors-8]",
	async ([method, path], { expect }) => {
		const { apiKey } = client;
		const other = apiKey.endsWith("0") ? "1" : "0";
		for (const wrong of [undefined, "", "x", `${apiKey.slice(0, -1)}${other}`, ` ${apiKey}x`]) {
			const answer = await call(path, {
				method,
				headers: { "x-api-key": wrong, "content-type": "text/plain" },
				...(method === "POST" && { body: "[" }),
			});
			expectRefusal(expect, answer, "UNAUTHORIZED");
		}
	},
);

test.concurrent("a revoked key is refused within two seconds, and another key of the account can use its tokens [D-conventions-21, D-errors-9]", async ({
	expect,
}) => {
	const account = `revoking-${Date.now()}`;
	const create = async () =>
		JSON.parse(
			await serverCommand(environment.serverEnvironment, ["keys", "create", "--account", account, "--json"]),
		) as { apiKey: string; keyId: string };
	const [first, second] = await Promise.all([create(), create()]);
	const ask = ({ apiKey }: { apiKey: string }) =>
		callApi({ ...client, apiKey }, "/swap/quote", { body: goodQuote() });
	const quoted = await ask(first);
	expect(quoted.status).toBe(200);
	// The key is in use all the time, so a cached key must still be read again.
	const using = new AbortController();
	const asked = (async () => {
		while (!using.signal.aborted) await Promise.all([ask(first), sleep(100)]);
	})();
	await serverCommand(environment.serverEnvironment, ["keys", "revoke", first.keyId, "--json"]);
	await sleep(revokedWithinMs);
	expectRefusal(expect, await ask(first), "UNAUTHORIZED");
	using.abort();
	await asked;
	// A token belongs to the account, not to the key.
	const { geoQuoteToken } = quoted.body as { geoQuoteToken: string };
	const built = await callApi({ ...client, apiKey: second.apiKey }, "/swap/build-geo-op", {
		body: { geoQuoteToken },
	});
	expect(["NEEDS_DELEGATION", "QUOTE_EXPIRED"]).toContain(built.body?.code);
});

test.concurrent("a path that does not exist is 404, with or without a key [D-errors-12, D-order-1]", async ({
	expect,
}) => {
	for (const path of ["/swap", "/swap/quotes", "/swap/Quote", "/swap/status", "/%zz", "/swap/%ff", "/..x"]) {
		for (const options of [{}, { body: "[" }, { headers: { "x-api-key": undefined } }]) {
			expectRefusal(expect, await call(path, options), "NOT_FOUND");
		}
	}
});

test.concurrent("a wrong method is 405 and names the right one, even without a key [D-conventions-30, D-errors-13, D-order-1]", async ({
	expect,
}) => {
	for (const [right, path] of keyed) {
		const allow = right === "GET" ? ["GET", "HEAD"] : ["POST"];
		for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
			if (method === right) continue;
			const answer = await call(path, { method, headers: { "x-api-key": undefined } });
			expectRefusal(expect, answer, "METHOD_NOT_ALLOWED", { allow });
			expect(answer.headers.allow).toBe(allow.join(", "));
		}
	}
});

test.concurrent("trailing and doubled slashes make no difference [D-conventions-29]", async ({ expect }) => {
	for (const path of ["/swap/quote/", "//swap/quote", "/swap//quote//", "///swap///quote///?x=//"]) {
		const answer = await call(path, { body: goodQuote() });
		expect([answer.status, path]).toEqual([200, path]);
		expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
	}
	expectRefusal(expect, await call("//swap//status//swp_x//"), "SWAP_NOT_FOUND");
	expect((await call("//health/")).status).toBe(200);
});

test.concurrent("any text in place of a swap id is SWAP_NOT_FOUND [D-errors-11, D-status-4]", async ({
	expect,
}) => {
	for (const text of ["%zz", "%", "%ff", "a%2Fb", "%00", "'--", "x".repeat(5_000)]) {
		expectRefusal(expect, await call(`/swap/status/${text}`), "SWAP_NOT_FOUND");
	}
});

test.concurrent.for(posts)(
	"%s accepts JSON with any parameters of the type, and another type or none is 415 [I1-1, D-conventions-26, D-conventions-27, D-errors-20, D-order-4]",
	async (path, { expect }) => {
		for (const type of [
			undefined,
			"",
			"text/plain",
			"application/jsonp",
			"application/x-www-form-urlencoded",
		]) {
			// The type is checked before the size and the content.
			for (const body of ["{}", "[", "x".repeat(40_000)]) {
				const answer = await call(path, { body, headers: { "content-type": type } });
				expectRefusal(expect, answer, "UNSUPPORTED_MEDIA_TYPE");
			}
		}
		for (const type of [
			"application/json; charset=utf-8",
			"Application/JSON;a=b",
			'application/json; q="a;b"',
		]) {
			const answer = await call(path, { body: "{}", headers: { "content-type": type } });
			expect([answer.status, answer.body?.code]).toEqual([400, "INVALID_REQUEST"]);
		}
	},
);

test.concurrent.for(posts)(
	"%s accepts only a JSON object of at most 32 KiB [D-conventions-28, D-errors-5, D-errors-19, D-limits-8]",
	async (path, { expect }) => {
		for (const body of ["", "null", "[]", "[{}]", "1", '"{}"', "{", "{}x", "\u0000", "true"]) {
			expectRefusal(expect, await call(path, { body }), "INVALID_REQUEST", issuesAt(expect, ""));
		}
		expectRefusal(expect, await call(path, { method: "POST" }), "INVALID_REQUEST", issuesAt(expect, ""));
		for (const body of ["{".padEnd(32 * 1024 + 1), JSON.stringify({ geoQuoteToken: "x".repeat(33_000) })]) {
			expectRefusal(expect, await call(path, { body }), "BODY_TOO_LARGE");
		}
		const largest = await call(path, { body: "{}".padEnd(32 * 1024) });
		expect(largest.body?.code).toBe("INVALID_REQUEST");
	},
);

test.concurrent("a page of another origin gets no CORS header, and a preflight is 405 [D-conventions-31]", async ({
	expect,
}) => {
	const headers = { origin: "https://other.example", "access-control-request-method": "POST" };
	const preflight = await call("/swap/quote", { method: "OPTIONS", headers });
	expectRefusal(expect, preflight, "METHOD_NOT_ALLOWED", { allow: ["POST"] });
	const answer = await call("/swap/quote", { body: goodQuote(), headers });
	for (const { headers: answered } of [preflight, answer]) {
		expect(answered).not.toHaveProperty("access-control-allow-origin");
	}
});

test.concurrent("each request gets a new id from the service, and the caller's id is ignored [D-conventions-34]", async ({
	expect,
}) => {
	const answers = await Promise.all(
		["/health", "/health", "/nowhere"].map((path) => call(path, { headers: { "x-request-id": "theirs" } })),
	);
	const ids = answers.map(({ headers }) => headers["x-request-id"]);
	expect(new Set([...ids, "theirs"]).size).toBe(4);
});

test.concurrent("a key's burst is twenty seconds' requests of one operation, and more is 429 until the time in the response [D-errors-26, D-limits-2, D-limits-6]", async ({
	expect,
}) => {
	const limited = await environment.newClient();
	// The body is malformed on purpose, because the rate is checked before the body.
	const build = () => callApi(limited, "/swap/build-geo-op", { body: "[" });
	const burst = 200;
	const answers = await Promise.all(Array.from({ length: burst }, build));
	expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
	expect(new Set(answers.map(({ headers }) => headers["ratelimit-limit"]))).toEqual(new Set(["200"]));
	// Ten more are allowed each second, and if Redis is slow a process counts for itself and lets through what Redis had
	// not counted. So batches are sent until a request is refused.
	const [refused] = await untilRefused(build, { usual: 400 });
	if (!refused) throw new Error("one was refused");
	const waitSeconds = Number(refused.headers["retry-after"]);
	expectRefusal(expect, refused, "RATE_LIMITED", { reason: "rate", retryAfterSeconds: waitSeconds });
	expect(refused.headers).toMatchObject({
		"ratelimit-limit": "200",
		"ratelimit-remaining": "0",
		"ratelimit-reset": String(waitSeconds),
	});
	expect(waitSeconds).toBeGreaterThanOrEqual(1);
	expect(waitSeconds).toBeLessThanOrEqual(20);

	// Neither another operation nor another key is affected, and a wrong path costs nothing.
	const { status, headers } = await callApi(limited, "/swap/quote", { body: goodQuote() });
	expect([status, headers["ratelimit-limit"], headers["ratelimit-remaining"]]).toEqual([200, "400", "399"]);
	expect((await call("/swap/build-geo-op", { body: "[" })).status).toBe(400);
	await sleep(waitSeconds * 1_000);
	expect((await build()).status).toBe(400);
});

test.concurrent("an operator can give a key different rates [I4-33, D-limits-9]", async ({ expect }) => {
	const args = ["keys", "create", "--account", `slow-${Date.now()}`, "--rate", "status=0.1", "--json"];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, args));
	const ask = () => callApi({ ...client, apiKey }, "/swap/status/swp_x");
	for (const remaining of ["1", "0"]) {
		expect((await ask()).headers).toMatchObject({
			"ratelimit-limit": "2",
			"ratelimit-remaining": remaining,
		});
	}
	expect((await ask()).status).toBe(429);
	expect((await callApi({ ...client, apiKey }, "/swap/quote", { body: goodQuote() })).status).toBe(200);
	await expect(
		serverCommand(environment.serverEnvironment, [...args.slice(0, 4), "--rate", "swaps=1"]),
	).rejects.toThrow("is not a rate");
});

test.concurrent("a flood without a valid key is limited by its address, and callers with keys are not affected [D-limits-10]", async ({
	expect,
}) => {
	// This address of the machine is used by no other test.
	const localAddress = "127.0.0.77";
	const flood = () => call("/swap/quote", { body: "[", headers: { "x-api-key": "none" }, localAddress });
	const answers = await Promise.all(Array.from({ length: 400 }, flood));
	expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
	// Twenty more are allowed each second meanwhile.
	for (const answer of await untilRefused(flood, { usual: 401 })) {
		expectRefusal(expect, answer, "RATE_LIMITED", {
			reason: "rate",
			retryAfterSeconds: Number(answer.headers["retry-after"]),
		});
	}
	expect((await call("/swap/quote", { body: goodQuote(), localAddress })).status).toBe(200);
	const elsewhere = await call("/swap/quote", { body: "[", headers: { "x-api-key": "none" } });
	expectRefusal(expect, elsewhere, "UNAUTHORIZED");
});

test.concurrent("unknown fields are ignored in a build [D-conventions-15, D-conventions-16]", async ({
	expect,
}) => {
	const { geoQuoteToken } = await getQuote(client, goodQuote());
	const body = { geoQuoteToken, authorization: null, slipage: 1, nested: { a: [null] } };
	const answer = await call("/swap/build-geo-op", { body });
	expect(answer.body?.code).toBe("NEEDS_DELEGATION");
});
