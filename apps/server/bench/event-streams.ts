import { fork } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { createEventFeed } from "../src/api/event/create-event-feed.ts";
import { createApp } from "../src/api/http/create-app.ts";
import { createHeldCalls } from "../src/api/key/held-calls.ts";
import { createRateLimits } from "../src/api/key/rate-limits.ts";
import { getEvents } from "../src/api/route/events.ts";
import type { Database } from "../src/database/database.ts";

// Opens many streams of events on loopback and prints the memory of the process that serves them. The events come from
// a log without a database, so that nothing else is measured.

const { values } = parseArgs({
	options: {
		streams: { type: "string", default: "10000" },
		json: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});
const count = Number(values.streams);

if (values.help) {
	console.log(`Usage: node --expose-gc apps/server/bench/event-streams.ts [--streams 10000] [--json]

Prints the resident memory of a process with that many open streams of events, each on its own connection.`);
} else if (process.env.GEOSWAP_BENCH_URL) await openStreams(process.env.GEOSWAP_BENCH_URL);
else await measure();

async function measure(): Promise<void> {
	const head = { epoch: 0, position: 0, pruned: 0 };
	const db = { query: async () => ({ rows: [head] }) } as unknown as Database;
	const feed = createEventFeed({
		db,
		statusOf: () => {
			throw new Error("there are no swaps");
		},
	});
	const redis = { run: async () => undefined, close: () => {} };
	const rates = { quote: 1, build: 1, submit: 1, delegation: 1, status: count, list: 1 };
	const account = {
		accountId: "00000000-0000-0000-0000-000000000001",
		accountCreatedAt: new Date(0),
		keyId: "bench",
		limits: { rates, heldStatusCalls: 1 },
	};
	const app = createApp({
		routes: [
			getEvents({
				feed,
				heldStreams: createHeldCalls({ redis }),
				limits: { perKey: count, perProcess: count },
				random: Math.random,
			}),
		],
		apiKeys: { authenticate: async () => account },
		rateLimits: createRateLimits({ redis, unauthenticatedPerSecond: 1 }),
		log: pino({ level: "silent" }),
	});
	await app.listen({ host: "127.0.0.1", port: 0, backlog: 16_384 });
	const { port } = app.server.address() as AddressInfo;
	const before = memory();
	const client = fork(import.meta.filename, ["--streams", String(count)], {
		env: { ...process.env, GEOSWAP_BENCH_URL: `http://127.0.0.1:${port}/events` },
	});
	const startedAt = performance.now();
	await once(client, "message");
	const seconds = (performance.now() - startedAt) / 1_000;
	const after = memory();
	const figures = {
		streams: feed.size(),
		seconds: Number(seconds.toFixed(1)),
		residentMib: Math.round(after.rss / 2 ** 20),
		residentBytesPerStream: Math.round((after.rss - before.rss) / count),
		heapBytesPerStream: Math.round((after.heapUsed - before.heapUsed) / count),
	};
	console.log(
		values.json
			? JSON.stringify(figures)
			: Object.entries(figures)
					.map(([name, value]) => `${name}: ${value}`)
					.join("\n"),
	);
	client.kill();
	feed.close();
	await app.close();
}

/** Returns the memory in use. Run with --expose-gc, or garbage counts too. */
function memory(): NodeJS.MemoryUsage {
	globalThis.gc?.();
	return process.memoryUsage();
}

/** Opens the streams, in groups that the system's backlog takes, and stays connected. */
async function openStreams(url: string): Promise<void> {
	const group = 200;
	for (let opened = 0; opened < count; opened += group) {
		const streams = Array.from({ length: Math.min(group, count - opened) }, async () => {
			const sending = request(url, { agent: false, headers: { "x-api-key": "bench" } });
			sending.on("error", () => {});
			sending.end();
			const [response] = await once(sending, "response");
			if (response.statusCode !== 200) throw new Error(`a stream was refused with ${response.statusCode}`);
			response.on("error", () => {});
			response.resume();
		});
		await Promise.all(streams);
	}
	process.send?.("open");
}
