import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export type LyingNodeCall = { method: string; params: unknown[] };

/**
 * A node's false response, which is another result, an error, another HTTP status, or no response until the caller's
 * timeout.
 */
type Lie =
	| { result: unknown }
	| { error: { code: number; message: string } }
	| { status: number; headers?: Record<string, string> }
	| "nothing";

/**
 * Maps a call and its true result to a lie, or to undefined for the true result. May be slow. `answerBytes` is the size
 * of the node's whole response to all calls of the request.
 */
export type Liar = (
	call: LyingNodeCall,
	result: unknown,
	answerBytes: number,
) => Lie | undefined | Promise<Lie | undefined>;

/** A provider of a chain whose answers the test controls. */
export type LyingNode = {
	url: string;
	calls: LyingNodeCall[];
	/** The node behind the proxy, whose responses are true. */
	targetUrl: string;
	/** Undefined if the proxy returns true responses only. */
	liar: Liar | undefined;
	/** True if the node breaks every connection. */
	isDown: boolean;
	/** False if the node refuses requests with several calls. */
	takesBatches: boolean;
	/** How much later the node passes on the messages of its websockets. */
	webSocketDelayMs: number;
	/** False if the node takes no websockets. */
	takesWebSockets: boolean;
	/** Breaks all connections of websockets. */
	dropWebSockets: () => void;
	stop: () => Promise<void>;
};

/** Starts a proxy of a node. Each call and its result pass through the liar, if there is one. */
export async function startLyingNode({ targetUrl = "" } = {}): Promise<LyingNode> {
	const sockets = new Set<Socket>();
	const server = createServer((request, response) => {
		if (node.isDown) return void request.socket.destroy();
		// The caller gets a broken connection, as it would without the proxy.
		answer(node, request, response).catch(() => response.destroy());
	});
	server.on("upgrade", (request, socket: Socket) => {
		if (node.isDown || !node.takesWebSockets) return socket.destroy();
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
		passOnWebSocket(node, request, socket);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const node: LyingNode = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		calls: [],
		targetUrl,
		liar: undefined,
		isDown: false,
		takesBatches: true,
		webSocketDelayMs: 0,
		takesWebSockets: true,
		dropWebSockets: () => {
			for (const socket of sockets) socket.destroy();
		},
		stop: async () => {
			node.dropWebSockets();
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
	return node;
}

const headers = { "content-type": "application/json" };

async function answer(node: LyingNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const body = Buffer.concat(chunks).toString();
	const asked = JSON.parse(body) as Asked | Asked[];
	if (Array.isArray(asked) && !node.takesBatches) {
		const error = { code: -32_600, message: "batches are not supported" };
		return void response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
	}
	const all = [asked].flat();
	for (const { id: _, ...call } of all) node.calls.push(call);
	const truth = await fetch(node.targetUrl, { method: "POST", headers, body });
	// A true response is passed on as text, since its numbers may exceed JavaScript's.
	const text = await truth.text();
	const told = [JSON.parse(text)].flat() as { id: unknown; result?: unknown }[];
	const lies = await Promise.all(
		all.map(async ({ id, ...call }) => {
			const { result } = told.find((one) => one.id === id) ?? {};
			return node.liar?.(call, result, text.length);
		}),
	);
	if (lies.includes("nothing")) return;
	for (const lie of lies) {
		if (typeof lie !== "object" || !("status" in lie)) continue;
		response.writeHead(lie.status, lie.headers);
		response.end();
		return;
	}
	response.writeHead(truth.status, headers);
	if (lies.every((lie) => lie === undefined)) return void response.end(text);
	const answers = all.map(({ id }, i) =>
		lies[i] ? { ...(lies[i] as object), jsonrpc: "2.0", id } : told.find((one) => one.id === id),
	);
	response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
}

type Asked = LyingNodeCall & { id: unknown };

function passOnWebSocket(node: LyingNode, { headers: sent }: IncomingMessage, socket: Socket): void {
	const { hostname, port } = new URL(node.targetUrl);
	const upstream = connect(Number(port), hostname);
	upstream.on("error", () => socket.destroy()).on("close", () => socket.destroy());
	socket.on("error", () => {}).on("close", () => upstream.destroy());
	const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
	upstream.write(["GET / HTTP/1.1", ...lines, "", ""].join("\r\n"));
	socket.pipe(upstream);
	upstream.on("data", (chunk) => {
		const passOn = () => void (socket.destroyed || socket.write(chunk));
		if (node.webSocketDelayMs > 0) setTimeout(passOn, node.webSocketDelayMs).unref();
		else passOn();
	});
}
