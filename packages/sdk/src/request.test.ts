import { afterEach, expect, test } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { type Answer, serveAnswers } from "../test/serve-answers.ts";
import { buildOp } from "./build-op.ts";
import { createClient } from "./create-client.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getDelegation } from "./get-delegation.ts";
import { getQuote } from "./get-quote.ts";
import { getStatus } from "./get-status.ts";
import { submitOp } from "./submit-op.ts";

type Served = Awaited<ReturnType<typeof serveAnswers>>;
const open: Served[] = [];
afterEach(() => Promise.all(open.splice(0).map((served) => served.close())));
async function serve(...answers: Answer[]): Promise<Served> {
	const served = await serveAnswers(...answers);
	open.push(served);
	return served;
}
test("quote, delegation, build, submit and status each call their own endpoint with the key", async () => {
	const { client, requests } = await serve({ body: {} });
	const intent = {
		originChain: 1,
		destinationChain: 2,
		inputToken: "0x1",
		outputToken: "0x2",
		amount: "5",
		walletAddress: "0x3",
	};
	await getQuote(client, intent);
	await getDelegation(client, { chainId: 1, walletAddress: "0x3" });
	await buildOp(client, { geoQuoteToken: "q", authorization: undefined });
	await submitOp(client, { geoOpToken: "o", signature: "0x4" });
	await getStatus(client, "swp_1/..", { waitSeconds: 3 });
	expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
		["POST", "/swap/quote", JSON.stringify(intent)],
		["GET", "/swap/delegation?chainId=1&walletAddress=0x3", ""],
		["POST", "/swap/build-geo-op", '{"geoQuoteToken":"q"}'],
		["POST", "/swap/submit", '{"geoOpToken":"o","signature":"0x4"}'],
		["GET", "/swap/status/swp_1%2F..?wait=3", ""],
	]);
	for (const { headers } of requests) expect(headers["x-api-key"]).toBe("key-1");
});

test("an authorization may contain a bigint, which is sent as a string", async () => {
	const { client, requests } = await serve({ body: {} });
	const authorization = { chainId: 1, address: "0x1", nonce: 0, yParity: 0, r: "0x2", s: "0x3", v: 27n };
	await buildOp(client, { geoQuoteToken: "q", authorization });
	expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({ authorization: { nonce: 0, v: "27" } });
});

test("an error carries the service's answer and never the key", async () => {
	const details = { expiredAt: "2026-01-01T00:00:00.000Z" };
	const body = {
		code: "QUOTE_EXPIRED",
		message: "Gone.",
		next: "requote",
		retryable: false,
		requestId: "r1",
		details,
	};
	const { client } = await serve({ status: 410, body });
	const error = await errorOf(buildOp(client, { geoQuoteToken: "q" }));
	expect(error).toBeInstanceOf(GeoswapError);
	expect(error).toMatchObject({ ...body, status: 410 });
	expect(JSON.stringify(error) + error.stack).not.toContain("key-1");
});

test("an error links to the service's page about its code, or else to the service's docs", async () => {
	const body = { code: "NO_ROUTE", message: "No.", next: "fix_request", retryable: false, requestId: "r1" };
	const { client } = await serve({ status: 422, body }, { status: 502, body: "<html>" }, "hang up");
	const docs = async () => (await errorOf(getStatus(client, "swp_1"))).docs;
	expect(await docs()).toBe(`${client.baseUrl}/docs/errors/NO_ROUTE`);
	expect(await docs()).toBe(`${client.baseUrl}/docs`);
	expect(await docs()).toBe(`${client.baseUrl}/docs`);
});

test("a response that the service did not write is an error, and only a 5xx is retryable", async () => {
	const { client } = await serve(
		{ status: 502, body: "<html>" },
		{ status: 403, body: "<html>" },
		{ body: "<html>" },
		{ status: 500, body: "null" },
	);
	const call = () => errorOf(getStatus(client, "swp_1"));
	expect(await call()).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 502, retryable: true });
	expect(await call()).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 403, retryable: false });
	expect(await call()).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 200, retryable: false });
	expect(await call()).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 500, retryable: true });
});

test("a Retry-After that is empty or not a number of seconds is ignored", async () => {
	const headers = ["", " ", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "0", " 7 "];
	const { client } = await serve(
		...headers.map((retryAfter) => ({ status: 503, headers: { "retry-after": retryAfter }, body: "" })),
	);
	const found: unknown[] = [];
	for (const _ of headers) found.push((await errorOf(getStatus(client, "swp_1"))).retryAfterMs);
	expect(found).toEqual([undefined, undefined, undefined, undefined, 0, 7_000]);
});

test("error fields of the wrong type are left out, and an error whose code is not text is UNEXPECTED_RESPONSE", async () => {
	const body = { code: "NO_ROUTE", next: "fix_request", message: 5, requestId: { a: 1 }, details: "x" };
	const { client } = await serve({ status: 422, body }, { status: 422, body: { ...body, code: 5 } });
	expect(await errorOf(getStatus(client, "swp_1"))).toMatchObject({
		code: "NO_ROUTE",
		message: "NO_ROUTE",
		requestId: undefined,
		details: undefined,
	});
	expect(await errorOf(getStatus(client, "swp_1"))).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
});

test("a redirect is not followed, because it would forward the key", async () => {
	const target = await serve({ body: {} });
	const { client } = await serve({ status: 307, headers: { location: target.client.baseUrl }, body: {} });
	expect(await errorOf(getStatus(client, "swp_1"))).toMatchObject({ code: "UNREACHABLE" });
	expect(target.requests).toEqual([]);
});

test("a submit without a response is sent again with the same bytes", async () => {
	const busy = { code: "RATE_LIMITED", message: "Wait.", next: "retry", retryable: true, requestId: "r" };
	const { client, requests } = await serve(
		"hang up",
		{ status: 429, headers: { "retry-after": "0" }, body: busy },
		{ body: { swapId: "swp_1", status: "pending" } },
	);
	expect(await submitOp(client, { geoOpToken: "o", signature: "0x4" })).toEqual({
		swapId: "swp_1",
		status: "pending",
	});
	expect(requests.map(({ body }) => body)).toEqual(Array(3).fill('{"geoOpToken":"o","signature":"0x4"}'));
});

test("a submit that was refused, or would have to wait too long, is not sent again", async () => {
	const body = { message: "No.", retryable: true, requestId: "r" };
	const { client, requests } = await serve(
		{ status: 422, body: { ...body, code: "INSUFFICIENT_BALANCE", next: "fund_wallet" } },
		{
			status: 429,
			headers: { "retry-after": "3600" },
			body: { ...body, code: "RATE_LIMITED", next: "retry" },
		},
	);
	const submit = () => errorOf(submitOp(client, { geoOpToken: "o", signature: "0x4" }));
	expect(await submit()).toMatchObject({ code: "INSUFFICIENT_BALANCE" });
	expect(await submit()).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 3_600_000 });
	expect(requests).toHaveLength(2);
});

test("creating a client without an HTTP address or without a key throws", () => {
	expect(() => createClient({ baseUrl: "ftp://a", apiKey: "k" })).toThrow(TypeError);
	expect(() => createClient({ baseUrl: "a", apiKey: "k" })).toThrow(TypeError);
	expect(() => createClient({ baseUrl: "http://a", apiKey: "" })).toThrow(TypeError);
});
