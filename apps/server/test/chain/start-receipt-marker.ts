import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a proxy of a node that adds a field of zero to every receipt, such as `l1Fee`, as nodes of a rollup have it. The
 * model charges nothing for it.
 */
export async function startReceiptMarker(
	targetUrl: string,
	field: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
	const forward = async (request: IncomingMessage, response: ServerResponse) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = Buffer.concat(chunks).toString();
		const headers = { "content-type": "application/json" };
		const answer = await fetch(targetUrl, { method: "POST", headers, body });
		const text = await answer.text();
		response.writeHead(answer.status, headers);
		// Only receipts have this field. Text is changed, since numbers may exceed JavaScript's.
		response.end(text.replaceAll('"effectiveGasPrice":', `"${field}":"0x0","effectiveGasPrice":`));
	};
	const server = createServer((request, response) => {
		forward(request, response).catch(() => response.destroy());
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		stop: async () => {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
}
