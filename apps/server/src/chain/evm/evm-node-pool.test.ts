import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Liar, type LyingNode, startLyingNode, startTestChains, type TestChains } from "@geoswap/devnet";
import { createPublicClient, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { OnNodeChange } from "../node-pool/create-node-client.ts";
import type { NodeRole } from "../node-pool/node-state.ts";
import { evmNodePool } from "./evm-node-pool.ts";

type Call = { id: number; method: string; params: unknown[] };
const chainId = 31_337;
const roles: NodeRole[] = ["read", "send"];
const block = { number: numberToHex(7), hash: `0x${"11".repeat(32)}`, transactions: [], timestamp: "0x0" };
const answers: Record<string, unknown> = {
	eth_chainId: numberToHex(chainId),
	eth_blockNumber: block.number,
	eth_getBlockByNumber: block,
	eth_getBlockByHash: block,
	eth_feeHistory: [],
};

/** Starts a node that refuses these calls, and keeps the requests that came. */
async function startNode({
	refuses = () => undefined,
	batches,
}: {
	refuses?: (call: Call) => { code: number; message: string } | undefined;
	/** The answer to a request with several calls; undefined if it takes them. */
	batches?: { status: number; body: string };
}): Promise<{ url: string; requests: string[][] }> {
	const requests: string[][] = [];
	const server = createServer((request, response) => {
		text(request).then(
			(body) => answer(JSON.parse(body), response),
			() => response.destroy(),
		);
	});
	const answer = (asked: Call | Call[], response: ServerResponse) => {
		requests.push([asked].flat().map(({ method }) => method));
		response.setHeader("content-type", "application/json");
		if (Array.isArray(asked) && batches) {
			response.statusCode = batches.status;
			response.end(batches.body);
			return;
		}
		const answered = [asked].flat().map((call) => {
			const error = refuses(call);
			return { jsonrpc: "2.0", id: call.id, ...(error ? { error } : { result: answers[call.method] }) };
		});
		response.end(JSON.stringify(Array.isArray(asked) ? answered : answered[0]));
	};
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function clientOf(urls: readonly string[]) {
	const nodes = urls.map((url) => ({ url, roles }));
	const { transport } = evmNodePool({ chainId, nodes, timeoutMs: 5_000, batchSize: 20 });
	return createPublicClient({ transport, cacheTime: 0 });
}

test.each([
	{ how: "with a status", batches: { status: 400, body: "bad request" } },
	{ how: "with an error that names no call", batches: { status: 200, body: '{"error":{"code":-32600}}' } },
])("a node that refuses batches $how gets only single requests from then on", async ({ batches }) => {
	const { url, requests } = await startNode({ batches });
	const client = clientOf([url]);
	for (let i = 0; i < 2; i++) {
		expect(await Promise.all([client.getChainId(), client.getBlockNumber()])).toEqual([chainId, 7n]);
	}
	expect(requests.filter((methods) => methods.length > 1)).toHaveLength(1);
});

test("a method or a newest final block that one node lacks is requested from another", async () => {
	const lacking = await startNode({
		refuses: ({ method, params }) =>
			method === "eth_feeHistory"
				? { code: -32_601, message: "the method eth_feeHistory does not exist" }
				: params[0] === "finalized"
					? { code: -32_602, message: "invalid block tag: finalized" }
					: undefined,
	});
	const whole = await startNode({});
	const client = clientOf([lacking.url, whole.url]);
	expect(await client.request({ method: "eth_feeHistory", params: ["0x1", "0x7"] } as never)).toEqual([]);
	expect((await client.getBlock({ blockTag: "finalized" })).number).toBe(7n);
	expect(whole.requests.flat()).toEqual(expect.arrayContaining(["eth_feeHistory", "eth_getBlockByNumber"]));
});

let chains: TestChains;
let nodes: LyingNode[];
beforeAll(async () => {
	chains = await startTestChains();
	nodes = await Promise.all([0, 1, 2].map(() => startLyingNode({ targetUrl: chains.origin.rpcUrl })));
});
afterAll(async () => {
	await Promise.all(nodes.map((node) => node.stop()));
	await chains.stop();
});
beforeEach(() => {
	for (const node of nodes) Object.assign(node, { liar: undefined, calls: [] });
});

/** Connects through a new pool of all nodes over HTTP, the first preferred. */
function connectAll() {
	const changes: Parameters<OnNodeChange>[0][] = [];
	const { transport } = evmNodePool({
		chainId: chains.origin.chainId,
		nodes: nodes.map(({ url }) => ({ url, roles })),
		timeoutMs: 3_000,
		onChange: (change) => void changes.push(change),
	});
	const client = createPublicClient({ chain: chains.origin.chain, transport, cacheTime: 0 });
	return { client, changes };
}

/** Answers as a node does that has none of the newest blocks. */
function lagsBy(blocks: number, head: bigint): Liar {
	const last = Number(head) - blocks;
	return ({ method, params }, result) => {
		if (method === "eth_blockNumber") return { result: `0x${last.toString(16)}` };
		const { number } = (result ?? {}) as { number?: string };
		if (method.startsWith("eth_getBlockBy") && Number(number) > last) return { result: null };
		return params.at(-1) === "latest" ? { error: { code: -32_000, message: "header not found" } } : undefined;
	};
}

test("a node that answers 429 gets no requests for as long as its Retry-After states", async () => {
	const [first] = nodes as [LyingNode];
	first.liar = () => ({ status: 429, headers: { "retry-after": "30" } });
	const { client, changes } = connectAll();
	expect((await client.getBlock()).number).toBe(await chains.origin.publicClient.getBlockNumber());
	const asked = first.calls.length;
	for (let i = 0; i < 5; i++) await client.getBlock();
	expect(first.calls).toHaveLength(asked);
	expect(changes).toMatchObject([{ host: new URL(first.url).host, reason: "limits" }]);
	expect(changes[0]?.restMs).toBeGreaterThan(29_000);
});

test("a node that hangs costs one short wait, and a response of a node that lags or lacks a block is not used", async () => {
	const [first, second] = nodes as [LyingNode, LyingNode];
	const { client } = connectAll();
	await client.getBlock();
	await chains.origin.testClient.mine({ blocks: 6 });
	const head = await chains.origin.publicClient.getBlockNumber();
	expect((await client.getBlock()).number).toBe(head);
	first.liar = () => "nothing";
	second.liar = lagsBy(5, head);
	const startedAt = performance.now();
	const [newest, previous] = await Promise.all([
		client.getBlock({ blockNumber: head }),
		client.getBlock({ blockNumber: head - 1n }),
	]);
	expect([newest.number, previous.number]).toEqual([head, head - 1n]);
	expect(performance.now() - startedAt).toBeLessThan(3_000);
	expect(await client.getLogs({ blockHash: newest.hash })).toEqual([]);
	expect((await client.getBlock()).number).toBe(head);
});
