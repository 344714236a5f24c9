import { createConnection } from "node:net";
import { text } from "node:stream/consumers";
import { serverCommand } from "@geoswap/devnet";
import { errorBodySchema } from "@geoswap/protocol";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

/** The bodies are malformed on purpose, because the rate is checked before the body. */
const operations = [
	{ operation: "quote", perSecond: 20, path: "/swap/quote", body: "[" },
	{ operation: "build", perSecond: 10, path: "/swap/build-geo-op", body: "[" },
	{ operation: "build", perSecond: 10, path: "/swap/build-solana-tx", body: "[" },
	{ operation: "submit", perSecond: 10, path: "/swap/submit", body: "[" },
	{ operation: "submit", perSecond: 10, path: "/swap/submit-solana", body: "[" },
	{ operation: "delegation", perSecond: 10, path: "/swap/delegation" },
	{ operation: "status", perSecond: 20, path: "/swap/status/swp_x" },
];

let environment: Environment;
beforeAll(() => {
	environment = sharedEnvironment();
});

test.concurrent("every operation has a rate with a burst of twenty seconds' requests, and a call above the key's rate is 429 [I4-33, I8-11, D-errors-26, D-limits-1, D-limits-2, D-limits-3, D-limits-4, D-limits-5, D-limits-6, D-limits-9]", async ({
	expect,
}) => {
	const client = await environment.newClient();
	for (const { path, perSecond, body } of operations) {
		const { headers } = await callApi(client, path, body === undefined ? {} : { body });
		expect([path, headers["ratelimit-limit"]]).toEqual([path, String(20 * perSecond)]);
	}
	const own = ["quote", "build", "submit", "delegation", "status"].map((operation) => `${operation}=0.05`);
	const account = `limits-${generatePrivateKey().slice(2, 14)}`;
	const args = ["keys", "create", "--account", account, "--json", "--rate", ...own];
	const { apiKey } = JSON.parse(await serverCommand(environment.serverEnvironment, args));
	const spent = new Set<string>();
	for (const { operation, path, body } of operations) {
		const ask = () => callApi({ ...client, apiKey }, path, body === undefined ? {} : { body });
		// The burst, twenty seconds' worth, is one call. Both kinds of a build or a submit are one operation.
		if (!spent.has(operation)) expect([path, (await ask()).status]).not.toEqual([path, 429]);
		spent.add(operation);
		// On a busy machine one more call may be allowed by now.
		let refused = await ask();
		for (let i = 0; i < 5 && refused.status !== 429; i++) refused = await ask();
		const retryAfterSeconds = Number(refused.headers["retry-after"]);
		expectRefusal(expect, refused, "RATE_LIMITED", { reason: "rate", retryAfterSeconds });
		expect(refused.headers).toMatchObject({
			"ratelimit-limit": "1",
			"ratelimit-remaining": "0",
			"ratelimit-reset": String(retryAfterSeconds),
		});
	}
});

test.concurrent("/health and /ready respond without a key, in JSON [D-beyond-4, D-beyond-5]", async ({
	expect,
}) => {
	for (const path of ["/health", "/ready"]) {
		const { status, headers } = await callApi({ baseUrl: environment.baseUrl }, path);
		expect([path, status]).toEqual([path, 200]);
		expect(headers["content-type"]).toMatch(/^application\/json\b/);
		expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
	}
});

test.concurrent("bytes that are not an HTTP request get the usual error body, with a request id [D-conventions-33]", async ({
	expect,
}) => {
	const { hostname, port } = new URL(environment.baseUrl);
	for (const bytes of [
		"nonsense\r\n\r\n",
		`GET /health HTTP/1.1\r\nhost: a\r\nlong: ${"x".repeat(20_000)}\r\n\r\n`,
	]) {
		const socket = createConnection(Number(port), hostname);
		socket.write(bytes);
		const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
		expect(head).toMatch(/^HTTP\/1\.1 400 /);
		const { code, requestId } = errorBodySchema.parse(JSON.parse(body));
		expect(code).toBe("INVALID_REQUEST");
		expect(head).toContain(`x-request-id: ${requestId}`);
	}
});
