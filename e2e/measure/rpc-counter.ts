import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

/** Number of calls per JSON-RPC method. */
export type RpcCounts = Record<string, number>;

export type RpcCounter = { url: string; stop: () => Promise<void> };

const countsPath = "/counts";

/** Forwards JSON-RPC to a node, byte by byte as it comes, and counts the calls. Each call of a batch counts. */
export async function startRpcCounter(targetUrl: string): Promise<RpcCounter> {
	const counts: RpcCounts = {};
	const agent = new Agent({ keepAlive: true });
	const server = createServer((incoming, outgoing) => {
		if (incoming.url === countsPath) outgoing.end(JSON.stringify(counts));
		else passOn({ incoming, outgoing, targetUrl, agent, counts });
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		stop: async () => {
			server.close();
			server.closeAllConnections();
			agent.destroy();
			await once(server, "close");
		},
	};
}

/** Returns the counts since the counter was started. */
export async function readRpcCounts(counterUrl: string): Promise<RpcCounts> {
	const response = await fetch(new URL(countsPath, counterUrl));
	return response.json() as Promise<RpcCounts>;
}

function passOn({
	incoming,
	outgoing,
	targetUrl,
	agent,
	counts,
}: {
	incoming: IncomingMessage;
	outgoing: ServerResponse;
	targetUrl: string;
	agent: Agent;
	counts: RpcCounts;
}): void {
	const { method = "POST", headers } = incoming;
	const upstream = request(targetUrl, { method, headers, agent }, (answer) => {
		outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
		pipeline(answer, outgoing, () => {});
	});
	const chunks: Buffer[] = [];
	incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
	incoming.on("end", () => {
		for (const name of methodsIn(Buffer.concat(chunks).toString())) counts[name] = (counts[name] ?? 0) + 1;
	});
	pipeline(incoming, upstream, () => {});
	// The node is gone, so the caller gets a broken connection, as it would without the counter.
	upstream.on("error", () => outgoing.destroy());
	outgoing.on("close", () => upstream.destroy());
}

function methodsIn(body: string): string[] {
	try {
		const calls: { method?: unknown }[] = [JSON.parse(body)].flat();
		return calls.map(({ method }) => String(method));
	} catch {
		return ["unreadable"];
	}
}
