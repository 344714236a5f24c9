import { HttpRequestError, TimeoutError } from "viem";
import { expect, test } from "vitest";
import { quietError } from "./quiet-error.ts";

const url = "https://node.example/secret-key";
const body = { method: "eth_sendRawTransaction", params: ["0xsigned"] };

test.each([
	["a request that fails", new HttpRequestError({ url, body, details: "503" })],
	["a request that times out", new TimeoutError({ url, body })],
	["a message of several lines", new Error(`it failed\nURL: ${url}\nRequest body: 0xsigned`)],
	["an address in its first line", new Error(`connect ECONNREFUSED ${url}`)],
	["a value that is not an error", `${url} 0xsigned`],
])("an error for the engine contains neither the endpoint nor signed bytes: %s", (_, error) => {
	const quiet = quietError(error);
	for (const text of [quiet.message, quiet.stack ?? "", String(quiet.cause ?? "")]) {
		expect(text).not.toMatch(/secret-key|0xsigned/);
	}
	expect(quiet.message).not.toBe("");
});
