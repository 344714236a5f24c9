import { Agent, request } from "node:http";
import type { RequestsLoad } from "./load.ts";

export type RequestsResult = { perSecond: number; answered: number; refused: number };

/** Sends the same POST over and over, with `inFlight` at a time. */
export async function sendRequests({
	url,
	headers,
	body,
	inFlight,
	durationMs,
}: RequestsLoad): Promise<RequestsResult> {
	const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
	const startedAt = performance.now();
	let sent = 0;
	let done = 0;
	let refused = 0;
	const worker = async () => {
		while (performance.now() - startedAt < durationMs) {
			sent += 1;
			const status = await post(url.replace("{n}", String(sent)), { agent, headers, body });
			done += 1;
			if (status >= 400) refused += 1;
		}
	};
	await Promise.all(Array.from({ length: inFlight }, worker));
	agent.destroy();
	const seconds = (performance.now() - startedAt) / 1_000;
	return { perSecond: (done - refused) / seconds, answered: done, refused };
}

function post(
	url: string,
	{ agent, headers, body }: { agent: Agent; headers: Record<string, string>; body: string },
): Promise<number> {
	return new Promise((resolve, reject) => {
		const sending = request(url, { method: "POST", agent, headers }, (response) => {
			response.resume();
			response.on("end", () => resolve(response.statusCode ?? 0));
		});
		sending.on("error", reject);
		sending.end(body);
	});
}
