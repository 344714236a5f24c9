import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type NodeCall = { method: string; params: unknown[] };

/** A node's false answer: another result, an error, or no answer for as long as the caller waits. */
type Lie = { result: unknown } | { error: { code: number; message: string } } | "nothing";

/** Maps a call and its true result to a lie; undefined to tell the truth. */
export type Liar = (call: NodeCall, result: unknown) => Lie | undefined;

/** A provider of a chain whose answers the test controls. */
export type LyingNode = {
	url: string;
	calls: NodeCall[];
	/** The node that knows the truth. */
	targetUrl: string;
	/** Undefined if the node tells the truth. */
	liar: Liar | undefined;
	stop: () => Promise<void>;
};

/** Starts a proxy of a node. Each call and its result pass through the liar, if there is one. */
export async function startLyingNode({ targetUrl = "" } = {}): Promise<LyingNode> {
	const server = createServer((request, response) => {
		// The caller should see a broken connection, as it would without the proxy.
		answer(node, request, response).catch(() => response.destroy());
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const node: LyingNode = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		calls: [],
		targetUrl,
		liar: undefined,
		stop: async () => {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
	return node;
}

async function answer(node: LyingNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const body = Buffer.concat(chunks).toString();
	const { id, ...call } = JSON.parse(body) as NodeCall & { id: unknown };
	node.calls.push(call);
	const headers = { "content-type": "application/json" };
	const truth = await fetch(node.targetUrl, { method: "POST", headers, body });
	// A true answer is passed on as text: its numbers may exceed JavaScript's.
	const text = await truth.text();
	const lie = node.liar?.(call, (JSON.parse(text) as { result?: unknown }).result);
	if (lie === "nothing") return;
	response.writeHead(truth.status, headers);
	response.end(lie ? JSON.stringify({ jsonrpc: "2.0", id, ...lie }) : text);
}
