import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Behaviour that is rare in a real node. `result` and `error` are JSON-RPC responses, the others are not. */
export type StubAnswer =
	| { result: unknown }
	| { error: { code: number; message: string } }
	| { status: number }
	| "hang up"
	| "say nothing";

export type StubSolanaRpc = {
	rpcUrl: string;
	calls: { method: string; params: unknown[] }[];
	stop: () => Promise<void>;
};

/** Starts a node whose responses the test chooses. */
export async function startStubSolanaRpc(
	answer: (call: { method: string; params: unknown[] }, count: number) => StubAnswer,
): Promise<StubSolanaRpc> {
	const calls: StubSolanaRpc["calls"] = [];
	const server = createServer((request, response) => {
		let body = "";
		request.on("data", (chunk: Buffer) => {
			body += chunk.toString();
		});
		request.on("end", () => respond(body, response));
	});
	const respond = (body: string, response: ServerResponse) => {
		const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: unknown[] };
		calls.push({ method, params });
		give(response, id, answer({ method, params }, calls.length));
	};
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		rpcUrl: `http://127.0.0.1:${port}/secret-path`,
		calls,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function give(response: ServerResponse, id: unknown, answer: StubAnswer): void {
	if (answer === "say nothing") return;
	if (answer === "hang up") {
		response.destroy();
		return;
	}
	if ("status" in answer) {
		response.writeHead(answer.status).end("no");
		return;
	}
	response.writeHead(200, { "content-type": "application/json" });
	response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
