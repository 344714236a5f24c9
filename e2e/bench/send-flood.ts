import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FloodLoad } from "./load.ts";

/** Number of answers per HTTP status; "error" counts the calls without an answer. */
export type FloodResult = { perSecond: number; statuses: Record<string, number> };

const connectionsPerAddress = 10;
const tickMs = 10;

/**
 * Sends requests without a key at a fixed rate, from all the addresses in turn. While every connection is busy none is
 * added, because a sender that only piles up requests has no time left to send them.
 */
export async function sendFlood({ url, addresses, perSecond, durationMs }: FloodLoad): Promise<FloodResult> {
	const agents = addresses.map(
		(localAddress) => new Agent({ keepAlive: true, maxSockets: connectionsPerAddress, localAddress }),
	);
	const statuses: Record<string, number> = {};
	const count = (status: string) => {
		statuses[status] = (statuses[status] ?? 0) + 1;
	};
	const startedAt = performance.now();
	let sent = 0;
	let underWay = 0;
	for (;;) {
		const elapsedMs = performance.now() - startedAt;
		if (elapsedMs >= durationMs) break;
		for (const due = (elapsedMs * perSecond) / 1_000; sent < due; sent++) {
			if (underWay >= connectionsPerAddress * agents.length) continue;
			underWay++;
			const agent = agents[sent % agents.length];
			const sending = request(url, { method: "POST", ...(agent && { agent }) }, (response) => {
				count(String(response.statusCode));
				response.resume();
			});
			sending.on("error", () => count("error"));
			sending.on("close", () => {
				underWay--;
			});
			sending.end();
		}
		await sleep(tickMs);
	}
	const answered = Object.values(statuses).reduce((sum, one) => sum + one, 0);
	const seconds = (performance.now() - startedAt) / 1_000;
	for (const agent of agents) agent.destroy();
	return { perSecond: answered / seconds, statuses };
}
