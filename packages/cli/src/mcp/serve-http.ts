import { randomBytes } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
	localhostHostValidation,
	localhostOriginValidation,
	toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import { CliError } from "../cli-error.ts";
import { isSameSecret } from "./is-same-secret.ts";

const path = "/mcp";
const shortestToken = 32;
/** No call needs more. */
const maxBodyBytes = 100_000;

/** Returns the token that clients must send, which is the given one or a random one. */
export function tokenOf(given: string | undefined): string {
	if (given === undefined || given === "") return randomBytes(32).toString("base64url");
	if (given.length >= shortestToken && /^[\x21-\x7e]+$/.test(given)) return given;
	throw new CliError(
		`GEOSWAP_MCP_TOKEN must have at least ${shortestToken} visible characters. Leave it out to get a random one.`,
		{ code: "USAGE", section: "mcp" },
	);
}

/**
 * Serves MCP by streamable HTTP on the loopback address. A page in a browser is refused by the Host and Origin headers,
 * and every other program of the machine by the token. Clients older than 2026-07-28 are served without a session, which
 * a question needs, so their users approve by the page or by `geoswap approve`.
 */
export async function serveHttp(
	factory: McpServerFactory,
	{ port, token }: { port: number; token: string },
): Promise<{ url: string; close: () => Promise<void> }> {
	const handler = createMcpHandler(factory, { maxRequestBodySize: maxBodyBytes });
	const serve = toNodeHandler(handler, { maxRequestBodySize: maxBodyBytes });
	const isHost = localhostHostValidation();
	const isOrigin = localhostOriginValidation();
	const server = createHttpServer((request, response) => {
		if (!isHost(request, response) || !isOrigin(request, response)) return;
		if (!isSameSecret(request.headers.authorization ?? "", `Bearer ${token}`)) {
			response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
			return;
		}
		if (new URL(request.url ?? "/", "http://localhost").pathname !== path) {
			response.writeHead(404).end();
			return;
		}
		// The library's request type omits that Node's fields may be undefined.
		void serve(request as Parameters<typeof serve>[0], response);
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, "127.0.0.1", resolve);
	}).catch((error: NodeJS.ErrnoException) => {
		throw new CliError(`Port ${port} cannot be used (${error.code}). Choose another one: --http 0`, {
			code: "USAGE",
			section: "mcp",
		});
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
		close: async () => {
			await handler.close();
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
