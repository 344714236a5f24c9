import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, createClient } from "../src/create-client.ts";

/** The answer to a call; `hang up` closes the connection without one. */
export type Answer = { status?: number; headers?: Record<string, string>; body: unknown } | "hang up";
export type SeenRequest = {
	method: string;
	path: string;
	headers: NodeJS.Dict<string | string[]>;
	body: string;
};

/** Starts a server on a free port that gives these answers in turn, and the last one from then on. */
export async function serveAnswers(
	...answers: Answer[]
): Promise<{ client: Client; requests: SeenRequest[]; close: () => Promise<void> }> {
	const requests: SeenRequest[] = [];
	const server = createServer((incoming, response) => {
		const chunks: Buffer[] = [];
		incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
		incoming.on("end", () => {
			const answer = answers[Math.min(requests.length, answers.length - 1)];
			requests.push({
				method: incoming.method ?? "",
				path: incoming.url ?? "",
				headers: incoming.headers,
				body: Buffer.concat(chunks).toString(),
			});
			if (answer === undefined || answer === "hang up") {
				incoming.socket.destroy();
				return;
			}
			response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
			response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		client: createClient({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: "key-1" }),
		requests,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
