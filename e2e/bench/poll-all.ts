import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { StatusResponse } from "@geoswap/protocol";
import type { PollLoad } from "./load.ts";

export type PollResult = {
	/** Number of answers per HTTP status or error. */
	answers: Record<string, number>;
	/** Duration of each call whose swap was still pending. */
	pendingMs: number[];
	/** Time at which each swap was reported as ended. */
	endedAtMs: Record<string, number>;
};

const tickMs = 10;

/**
 * Polls swaps without pause, each on its own connection, like callers that wait for swaps to end. At the end all
 * connections are closed, answered or not.
 */
export async function pollAll(
	{ baseUrl, apiKey, swapIds, address, perSecond }: PollLoad,
	ending: AbortSignal,
): Promise<PollResult> {
	const agent = new Agent({ keepAlive: true, localAddress: address });
	const result: PollResult = { answers: {}, pendingMs: [], endedAtMs: {} };
	const startedAt = performance.now();

	function count(answer: string): void {
		if (!ending.aborted) result.answers[answer] = (result.answers[answer] ?? 0) + 1;
	}

	function poll(swapId: string): void {
		const sentAt = performance.now();
		const failed = ({ code, message }: NodeJS.ErrnoException) => count(code ?? message);
		const sending = request(`${baseUrl}/swap/status/${swapId}`, { agent, headers: { "x-api-key": apiKey } });
		sending.on("error", failed);
		sending.on("response", (response) => {
			text(response).then((body) => {
				count(String(response.statusCode));
				if (response.statusCode !== 200 || ending.aborted) return;
				const { status } = JSON.parse(body) as StatusResponse;
				if (status !== "pending") {
					result.endedAtMs[swapId] = Date.now();
					return;
				}
				result.pendingMs.push(performance.now() - sentAt);
				poll(swapId);
			}, failed);
		});
		sending.end();
	}

	for (let begun = 0; !ending.aborted; await sleep(tickMs)) {
		const due = Math.min(((performance.now() - startedAt) * perSecond) / 1_000, swapIds.length);
		for (const swapId of swapIds.slice(begun, due)) poll(swapId);
		begun = Math.max(begun, Math.floor(due));
	}
	agent.destroy();
	return result;
}
