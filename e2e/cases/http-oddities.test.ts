import { beforeAll, expect, test } from "vitest";
import type { ApiAnswer } from "../caller/call-api.ts";
import { callApi } from "../caller/call-api.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { exchange, type RawAnswer } from "../generated/exchange.ts";
import { sharedEnvironment } from "../shared-environment.ts";

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

/** Sends these lines and the body, and returns `answerCount` answers of the connection. */
async function ask(
	lines: string[],
	{
		body = "",
		answerCount = 1,
		isEnded = false,
	}: { body?: string; answerCount?: number; isEnded?: boolean } = {},
): Promise<RawAnswer[]> {
	const { hostname: host, port } = new URL(environment.baseUrl);
	return exchange(
		{ host, port: Number(port), localAddress: "127.0.9.254" },
		Buffer.from([...lines, "", body].join("\r\n"), "latin1"),
		{ answerCount, isHead: lines[0]?.startsWith("HEAD") ?? false, isEnded, timeoutMs: 20_000 },
	);
}

async function refusal(...args: Parameters<typeof ask>): Promise<ApiAnswer> {
	const [answer] = await ask(...args);
	if (!answer) throw new Error("no answer");
	return { ...answer, body: JSON.parse(answer.body) };
}

const build = (...headers: string[]) => [
	"POST /swap/build-geo-op HTTP/1.1",
	`x-api-key: ${client.apiKey}`,
	"content-type: application/json",
	...headers,
];

test.concurrent("malformed HTTP is 400 with the usual error body, and closes the connection", async () => {
	for (const lines of [
		["nonsense"],
		["get /health HTTP/1.1"],
		["GET /health HTTP/2.0"],
		["GET /health HTTP/1.1", `x-long: ${"x".repeat(20_000)}`],
		[`GET /${"x".repeat(20_000)} HTTP/1.1`],
		["GET /health HTTP/1.1", "no colon"],
		build("content-length: 2", "transfer-encoding: chunked"),
		build("content-length: 2", "content-length: 3"),
		build("content-length: -1"),
	]) {
		const answer = await refusal(lines, { body: "{}" });
		expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, ""));
		expect(answer.headers.connection).toBe("close");
	}
	const cutOff = await refusal(build("content-length: 9"), { body: "{}", isEnded: true });
	expectRefusal(expect, cutOff, "INVALID_REQUEST", issuesAt(expect, ""));
});

test.concurrent("a method that a path does not allow is 405, CONNECT included", async () => {
	for (const method of ["CONNECT", "TRACE", "PROPFIND", "QUERY"]) {
		const answer = await refusal([`${method} /swap/quote HTTP/1.1`, "host: a"]);
		expectRefusal(expect, answer, "METHOD_NOT_ALLOWED", { allow: ["POST"] });
		expect(answer.headers.allow).toBe("POST");
	}
	expectRefusal(expect, await refusal(["CONNECT other.example:443 HTTP/1.1", "host: a"]), "NOT_FOUND");
});

test.concurrent("HEAD has the status and the content headers of GET", async () => {
	for (const [path, status] of [
		["/health", 200],
		["/chains", 401],
	]) {
		const [head, get] = await Promise.all([
			ask([`HEAD ${path} HTTP/1.1`, "host: a"]),
			ask([`GET ${path} HTTP/1.1`, "host: a"]),
		]);
		expect([head[0]?.status, get[0]?.status]).toEqual([status, status]);
		for (const name of ["content-type", "content-length"]) {
			expect(head[0]?.headers[name]).toBe(get[0]?.headers[name]);
		}
	}
});

test.concurrent("HTTP/1.0, a missing host, chunks, an expectation, an absolute URL and an upgrade change nothing", async () => {
	const token = { body: '{"geoQuoteToken":"x"}' };
	for (const answer of [
		await refusal(build("content-length: 21").with(0, "POST /swap/build-geo-op HTTP/1.0"), token),
		await refusal(build("content-length: 21"), token),
		await refusal(build("content-length: 21", "expect: 100-continue"), token),
		await refusal(build("content-length: 21", "expect: magic"), token),
		await refusal(build("content-length: 21").with(0, "POST http://a/swap/build-geo-op HTTP/1.1"), token),
		await refusal(build("transfer-encoding: chunked"), { body: `15;a=b\r\n${token.body}\r\n0\r\n\r\n` }),
		await refusal(build("content-length: 21", "connection: upgrade", "upgrade: websocket"), token),
	]) {
		expectRefusal(expect, answer, "INVALID_TOKEN", { reason: "unreadable" });
	}
});

test.concurrent("pipelined requests are answered in their order", async () => {
	const answers = await ask(
		[
			...["GET /health HTTP/1.1", "", "GET /nowhere HTTP/1.1", ""],
			...[...build("content-length: 2"), "", "[]GET /health HTTP/1.1"],
		],
		{ answerCount: 4 },
	);
	expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 200]);
});

test.concurrent("JSON may begin with a byte order mark, and a duplicate field is refused [D-conventions-35]", async () => {
	const ask = (body: string) => callApi(client, "/swap/build-geo-op", { body });
	expectRefusal(expect, await ask('\ufeff{"geoQuoteToken":"x"}'), "INVALID_TOKEN", { reason: "unreadable" });
	for (const values of ['1,"geoQuoteToken":"x"', '"x","geoQuoteToken":1', '"x","geoQuoteToken":"x"']) {
		const twice = await ask(`{"geoQuoteToken":${values}}`);
		expectRefusal(expect, twice, "INVALID_REQUEST", issuesAt(expect, "geoQuoteToken"));
	}
	// Names that every object inherits are not fields of this one.
	for (const name of ["__proto__", "constructor"]) {
		const answer = await ask(`{"${name}":{"geoQuoteToken":"x"}}`);
		expect(answer.body).toMatchObject({ code: "INVALID_REQUEST" });
	}
});

test.concurrent("the lists need a key and refuse POST, and a duplicate parameter is refused", async () => {
	for (const path of ["/chains", "/tokens", "/swaps"]) {
		const without = await callApi(client, path, { headers: { "x-api-key": undefined } });
		expectRefusal(expect, without, "UNAUTHORIZED");
		const posted = await callApi(client, path, { body: {} });
		expectRefusal(expect, posted, "METHOD_NOT_ALLOWED", { allow: ["GET", "HEAD"] });
	}
	for (const [path, name] of [
		["/tokens?chainId=1&chainId=2", "chainId"],
		["/swaps?limit=1&limit=2", "limit"],
		[
			"/swap/delegation?walletAddress=0x1111111111111111111111111111111111111111&chainId=1&chainId=1",
			"chainId",
		],
	] as const) {
		expectRefusal(expect, await callApi(client, path), "INVALID_REQUEST", issuesAt(expect, name));
	}
});
