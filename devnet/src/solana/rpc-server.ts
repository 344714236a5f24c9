import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer } from "ws";
import type { Faults } from "./faults.ts";
import { toRawJson } from "./raw-json.ts";
import { RpcError } from "./rpc-error.ts";
import type { Methods, Params } from "./rpc-params.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { subscriptions } from "./subscriptions.ts";

type Request = { id?: unknown; method: string; params: Params };
type Call = (request: Request) => unknown;

/** Stands for a response that is not sent. */
const dropped = Symbol("dropped");

/** Serves JSON-RPC over HTTP and, on the same port, over WebSocket with subscriptions. */
export function rpcServer({
	chain,
	methods,
	faults,
}: {
	chain: SolanaChain;
	methods: Methods;
	faults: Faults;
}): Server {
	const call: Call = ({ method, params }) => {
		const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
		if (!run) throw new RpcError(-32601, "Method not found");
		return run(params);
	};

	const answer = async (body: unknown, run: Call): Promise<unknown> => {
		const request = readRequest(body);
		if (!request) return { jsonrpc: "2.0", error: { code: -32600, message: "Invalid request" }, id: null };
		const result = await answerTo(request, run);
		// Faults must not affect the calls that set them.
		if (request.method.startsWith("devnet_")) return result;
		const delayMs = faults.answerDelayMs(request.method);
		if (delayMs > 0) await sleep(delayMs);
		return faults.dropsAnswer(request.method) ? dropped : result;
	};

	const handle = async (request: IncomingMessage, response: ServerResponse) => {
		if (request.method === "GET") {
			response.end("ok");
			return;
		}
		const text = await readBody(request);
		const body = parsed(text);
		if (body === undefined) {
			reply(response, { jsonrpc: "2.0", error: { code: -32700, message: "Parse error" }, id: null });
			return;
		}
		const answers = await Promise.all([body].flat().map((one) => answer(one, call)));
		if (answers.includes(dropped)) request.socket.destroy();
		else reply(response, Array.isArray(body) ? answers : answers[0]);
	};
	const server = createServer((request, response) => {
		// The client may go away while it is sending.
		handle(request, response).catch(() => request.socket.destroy());
	});
	// No idle timeout, because closing a connection at the moment a busy client uses it is an error to the client.
	server.keepAliveTimeout = 0;
	server.headersTimeout = 0;
	server.requestTimeout = 0;

	const sockets = new WebSocketServer({ server });
	const slotListeners = new Set<() => void>();
	chain.onSlot(() => {
		for (const listener of slotListeners) listener();
	});
	sockets.on("connection", (socket) => {
		const send = (message: unknown) => socket.send(toRawJson(message));
		const { call: subscribe, onSlot } = subscriptions(chain, send);
		slotListeners.add(onSlot);
		socket.on("close", () => slotListeners.delete(onSlot));
		socket.on("error", () => socket.terminate());
		const hear = async (text: string) => {
			const body = parsed(text);
			// A message without an id expects no response. Clients send these to keep the connection open.
			if (!readRequest(body) || (body as Request).id === undefined) return;
			const result = await answer(
				body,
				(request) => subscribe(request.method, request.params) ?? call(request),
			);
			if (result === dropped) socket.terminate();
			else send(result);
		};
		socket.on("message", (data) => {
			hear(String(data)).catch(() => socket.terminate());
		});
	});
	return server;
}

async function answerTo(request: Request, run: Call): Promise<object> {
	const id = request.id ?? null;
	try {
		return { jsonrpc: "2.0", result: await run(request), id };
	} catch (error) {
		if (error instanceof RpcError) {
			const { code, message, data } = error;
			return { jsonrpc: "2.0", error: { code, message, ...(data === undefined ? {} : { data }) }, id };
		}
		return { jsonrpc: "2.0", error: { code: -32603, message: `Internal error: ${String(error)}` }, id };
	}
}

function readRequest(body: unknown): Request | undefined {
	if (typeof body !== "object" || body === null) return undefined;
	const { id, method, params = [] } = body as Record<string, unknown>;
	if (typeof method !== "string" || !Array.isArray(params)) return undefined;
	return { id, method, params };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

async function readBody(request: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk);
	return Buffer.concat(chunks).toString("utf8");
}

function reply(response: ServerResponse, body: unknown): void {
	response.setHeader("content-type", "application/json");
	response.end(toRawJson(body));
}
