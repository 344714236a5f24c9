import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SeededRandom } from "./seeded-random.ts";

/** Faults of a call. It is lost; its answer is lost, late or cut off; or it is made twice, the second time late. */
const faults = ["dropped", "unanswered", "late", "cut", "doubled"] as const;
type ProxyFault = (typeof faults)[number];

export type FlakyProxy = {
	url: string;
	/** Number of times each fault happened. */
	counts: Record<ProxyFault, number>;
	calls: () => number;
	/** Stops once copies that are still in flight have arrived. */
	stop: () => Promise<void>;
};

const maxDelayMs = 5_000;
/** A copy may arrive until the op expires, and later. */
const maxCopyDelayMs = 120_000;

/** Proxies calls to the API, and injects faults into a share of them. */
export async function startFlakyProxy({
	target,
	share,
	random,
	copyDelayMs = maxCopyDelayMs,
}: {
	target: string;
	/** Share of the calls, from 0 to 1. */
	share: number;
	random: SeededRandom;
	copyDelayMs?: number;
}): Promise<FlakyProxy> {
	const counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as FlakyProxy["counts"];
	let calls = 0;
	const copies = new Set<Promise<unknown>>();
	const server = createServer((incoming, outgoing) => {
		const chunks: Buffer[] = [];
		incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
		incoming.on("end", () => {
			calls++;
			const fault = random.chance(share) ? random.pick(faults) : undefined;
			if (fault) counts[fault]++;
			if (fault === "dropped") return void incoming.socket.destroy();
			const body = Buffer.concat(chunks);
			const forward = () =>
				fetch(`${target}${incoming.url}`, {
					method: incoming.method ?? "GET",
					headers: Object.fromEntries(
						["x-api-key", "content-type"].flatMap((name) =>
							incoming.headers[name] ? [[name, String(incoming.headers[name])]] : [],
						),
					),
					...(body.length > 0 && { body }),
				});
			if (fault === "doubled") {
				const copy = sleep(random.between(0, copyDelayMs))
					.then(forward)
					.catch(() => {});
				copies.add(copy);
				void copy.finally(() => copies.delete(copy));
			}
			void answer(forward, fault);
		});

		async function answer(forward: () => Promise<Response>, fault: ProxyFault | undefined): Promise<void> {
			try {
				const response = await forward();
				const text = await response.text();
				if (fault === "unanswered") return void incoming.socket.destroy();
				if (fault === "late") await sleep(random.between(0, maxDelayMs));
				const headers = Object.fromEntries(
					["content-type", "retry-after", "x-request-id"].flatMap((name) => {
						const value = response.headers.get(name);
						return value === null ? [] : [[name, value]];
					}),
				);
				outgoing.writeHead(response.status, { ...headers, "content-length": Buffer.byteLength(text) });
				if (fault !== "cut") return void outgoing.end(text);
				outgoing.write(text.slice(0, text.length / 2), () => incoming.socket.destroy());
			} catch {
				incoming.socket.destroy();
			}
		}
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		counts,
		calls: () => calls,
		stop: async () => {
			await Promise.all(copies);
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function sleep(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}
