import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { keepRefusal } from "../environment/refusals.ts";

/** A call with an API key. With a body it is a POST. */
export type KeyedCall = { apiKey: string; path: string; body?: unknown };

export type KeyedAnswer = {
	/** The HTTP status, or the reason why there is none. */
	status: number | string;
	text: string;
	sentAtMs: number;
	answeredAtMs: number;
};

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** Sends a call once over a kept-alive connection. Never throws, because a failure is an answer to be counted. */
export function askOnce(baseUrl: string, { apiKey, path, body }: KeyedCall): Promise<KeyedAnswer> {
	const sentAtMs = Date.now();
	const json = body === undefined ? undefined : JSON.stringify(body);
	return new Promise((resolve) => {
		const answer = (status: number | string, text = "") =>
			resolve({ status, text, sentAtMs, answeredAtMs: Date.now() });
		const sent = request(new URL(path, baseUrl), {
			agent,
			method: json === undefined ? "GET" : "POST",
			headers: { "x-api-key": apiKey, ...(json !== undefined && { "content-type": "application/json" }) },
		});
		sent.on("error", (error: NodeJS.ErrnoException) => answer(error.code ?? error.message));
		sent.on("response", (response) => {
			text(response).then(
				(body) => {
					if (response.statusCode !== 200) keepRefusal(baseUrl, body);
					answer(response.statusCode ?? 0, body);
				},
				(error: Error) => answer(`broken off: ${error.message}`),
			);
		});
		sent.end(json);
	});
}

const tickMs = 20;

/** Calls at a steady rate, regardless of how long the answers take, until `isOver`. Returns when all are answered. */
export async function callEvenly(
	{ perSecond, isOver }: { perSecond: number; isOver: (elapsedMs: number) => boolean },
	call: (n: number) => Promise<unknown>,
): Promise<void> {
	const startedAt = performance.now();
	const underWay = new Set<Promise<unknown>>();
	for (let n = 0; ; await sleep(tickMs)) {
		const elapsedMs = performance.now() - startedAt;
		if (isOver(elapsedMs)) break;
		for (const due = (elapsedMs * perSecond) / 1_000; n <= due; n++) {
			const calling = call(n).finally(() => underWay.delete(calling));
			underWay.add(calling);
		}
	}
	await Promise.all(underWay);
}

/** Number of answers per status. */
export type Tally = Record<string, number>;

export function countAnswer(tally: Tally, { status }: Pick<KeyedAnswer, "status">): void {
	tally[status] = (tally[status] ?? 0) + 1;
}
