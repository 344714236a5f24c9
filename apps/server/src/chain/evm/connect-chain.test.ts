import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChainDeployment } from "@geoswap/protocol";
import { afterEach, expect, test } from "vitest";
import type { OnChainCall } from "../request-chain.ts";
import { connectChain } from "./connect-chain.ts";

let server: Server;
afterEach(() => void server.close());

/** A node that answers everything the same way. */
async function connected(answer: { status: number; body: object }) {
	server = createServer((_, response) => {
		response.writeHead(answer.status, { "content-type": "application/json", connection: "close" });
		response.end(JSON.stringify(answer.body));
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	const calls: Parameters<OnChainCall>[0][] = [];
	const { client } = connectChain({
		chainId: 31337,
		rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		deployment: { name: "Test", assets: [] as ChainDeployment["assets"] } as ChainDeployment,
		onCall: (call) => calls.push(call),
	});
	return { client, calls };
}

test("each call is reported once, as ok, as refused by the node, or as failed without a response", async () => {
	const fine = await connected({ status: 200, body: { jsonrpc: "2.0", id: 1, result: "0x10" } });
	expect(await fine.client.getBlockNumber()).toBe(16n);
	expect(fine.calls).toMatchObject([{ chainId: 31337, method: "eth_blockNumber", outcome: "ok" }]);
	expect(fine.calls[0]?.seconds).toBeGreaterThan(0);
	server.close();

	for (const code of [3, -32000]) {
		const error = { code, message: "execution reverted" };
		const refused = await connected({ status: 200, body: { jsonrpc: "2.0", id: 1, error } });
		await expect(refused.client.getGasPrice()).rejects.toThrow();
		expect(refused.calls).toMatchObject([{ method: "eth_gasPrice", outcome: "refused" }]);
		server.close();
	}

	const failed = await connected({ status: 503, body: {} });
	await expect(failed.client.getGasPrice()).rejects.toThrow();
	expect(failed.calls.map(({ outcome }) => outcome)).toEqual(["failed"]);
});
