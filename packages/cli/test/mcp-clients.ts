import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { HttpServer } from "./mcp-world.ts";

/** The user's answer to a question. */
export type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, boolean> };
export type User = (message: string) => Answer | Promise<Answer>;
export const approving: User = () => ({ action: "accept", content: { approve: true } });

type Called = {
	isError: boolean;
	text: string;
	/** The structured content, if there is any. */
	data: Record<string, unknown>;
};
export type McpClient = {
	revision: string;
	tools: () => Promise<{ name: string; annotations?: object | undefined; outputSchema?: unknown }[]>;
	call: (
		name: string,
		args: Record<string, unknown>,
		options?: { timeout?: number; signal?: AbortSignal },
	) => Promise<Called>;
	close: () => Promise<void>;
};
/** The server to connect to: a command to start, or an address. */
type Target = { args: readonly string[]; env: Record<string, string> } | HttpServer;

const info = { name: "test", version: "1.0.0" };
const elicitation = { elicitation: { form: {} } };

/** Connects the client of `@modelcontextprotocol/client`, in the current revision or in that of 2025. */
export async function connectClient(
	target: Target,
	{ revision, user }: { revision: "2026" | "2025"; user?: User },
): Promise<McpClient> {
	const client = new Client(info, {
		capabilities: user ? elicitation : {},
		versionNegotiation: { mode: revision === "2026" ? { pin: "2026-07-28" } : "legacy" },
	});
	if (user) client.setRequestHandler("elicitation/create", async ({ params }) => user(params.message));
	await client.connect(
		"url" in target
			? new StreamableHTTPClientTransport(new URL(target.url), {
					authProvider: { token: async () => target.token },
				})
			: new StdioClientTransport({
					command: process.execPath,
					args: [...target.args],
					env: target.env,
					stderr: "ignore",
				}),
	);
	return {
		revision: client.getNegotiatedProtocolVersion() ?? "",
		tools: async () => (await client.listTools()).tools,
		call: async (name, args, options) => called(await client.callTool({ name, arguments: args }, options)),
		close: () => client.close(),
	};
}

/** Connects the client of `@modelcontextprotocol/sdk`, which most programs have today. */
export async function connectV1(target: Target, { user }: { user?: User }): Promise<McpClient> {
	const client = new ClientV1(info, { capabilities: user ? elicitation : {} });
	if (user) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => user(params.message));
	const transport =
		"url" in target
			? new HttpV1(new URL(target.url), {
					requestInit: { headers: { authorization: `Bearer ${target.token}` } },
				})
			: new StdioV1({
					command: process.execPath,
					args: [...target.args],
					env: target.env,
					stderr: "ignore",
				});
	// The library's class does not fit its own interface if optional fields are checked exactly.
	await client.connect(transport as Transport);
	return {
		revision: "2025-11-25",
		tools: async () => (await client.listTools()).tools,
		call: async (name, args, options) =>
			called((await client.callTool({ name, arguments: args }, undefined, options)) as Result),
		close: () => client.close(),
	};
}

type Result = { isError?: unknown; content?: unknown; structuredContent?: unknown };

function called({ isError, content, structuredContent }: Result): Called {
	const [first] = (content ?? []) as { text?: string }[];
	return {
		isError: isError === true,
		text: first?.text ?? "",
		data: (structuredContent ?? {}) as Record<string, unknown>,
	};
}

/** The response to one request in the current revision, as it was sent. */
export type RawAnswer = {
	status: number;
	error?: { code: number; message: string };
	result?: Result & {
		resultType?: string;
		requestState?: string;
		inputRequests?: { approval: { params: { message: string } } };
	};
};

let lastId = 0;

/** Sends one `tools/call` in the current revision, with anything that a hostile client may put into it. */
export async function callRaw(
	{ url, token }: Pick<HttpServer, "url" | "token">,
	params: { name: string; arguments: unknown; inputResponses?: unknown; requestState?: unknown },
	{
		signal,
		send = fetch,
	}: {
		signal?: AbortSignal;
		/** Sends the request, for a server in this process. */
		send?: (request: Request) => Promise<Response>;
	} = {},
): Promise<RawAnswer> {
	const meta = {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo": info,
		"io.modelcontextprotocol/clientCapabilities": elicitation,
	};
	const request = new Request(url, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			accept: "application/json, text/event-stream",
			authorization: `Bearer ${token}`,
			"mcp-protocol-version": "2026-07-28",
			"mcp-method": "tools/call",
			"mcp-name": params.name,
		},
		body: JSON.stringify({
			jsonrpc: "2.0",
			id: ++lastId,
			method: "tools/call",
			params: { ...params, _meta: meta },
		}),
		...(signal && { signal }),
	});
	const response = await send(request);
	const text = await response.text();
	const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
	return { status: response.status, ...(JSON.parse(json) as Omit<RawAnswer, "status">) };
}

export const approved = { approval: { action: "accept", content: { approve: true } } };
