import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { readRpcCounts, startRpcCounter } from "./rpc-counter.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

/** Answers each request with its own body. */
async function startEcho(): Promise<{ url: string; close: () => Promise<void> }> {
	const server = createServer((incoming, outgoing) => incoming.pipe(outgoing)).listen(0, "127.0.0.1");
	await once(server, "listening");
	const close = async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	};
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const post = async (url: string, body: string) => (await fetch(url, { method: "POST", body })).text();
const call = (method: string, params: unknown[] = []) => ({ jsonrpc: "2.0", id: 1, method, params });

test("each call is counted by its method, also in a batch, and every byte is forwarded", async () => {
	const echo = await startEcho();
	const counter = await startRpcCounter(echo.url);
	closing.push(echo.close, counter.stop);
	const long = JSON.stringify(call("eth_sendRawTransaction", ["0x".padEnd(3_000_000, "ab")]));
	const batch = JSON.stringify([call("eth_call"), call("eth_call"), call("eth_chainId")]);
	expect(await Promise.all([long, batch, "nonsense"].map((body) => post(counter.url, body)))).toEqual([
		long,
		batch,
		"nonsense",
	]);
	expect(await readRpcCounts(counter.url)).toEqual({
		eth_sendRawTransaction: 1,
		eth_call: 2,
		eth_chainId: 1,
		unreadable: 1,
	});
});

test("a node that is down breaks the connection, and the counter keeps serving", async () => {
	const echo = await startEcho();
	const counter = await startRpcCounter(echo.url);
	closing.push(counter.stop);
	await post(counter.url, JSON.stringify(call("eth_chainId")));
	await echo.close();
	await expect(post(counter.url, JSON.stringify(call("eth_chainId")))).rejects.toThrow("fetch failed");
	expect(await readRpcCounts(counter.url)).toEqual({ eth_chainId: 2 });
});
