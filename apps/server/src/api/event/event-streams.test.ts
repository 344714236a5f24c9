import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SwapError, type SwapUuid, swapEventSchema, toSwapId } from "@geoswap/protocol";
import { createClient } from "@geoswap/sdk";
import { type StreamedEvent, streamEvents } from "@geoswap/sdk/events";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { insertTestSwap, moveTestSwap } from "../../../test/swap/insert-test-swap.ts";
import { pruneEvents, publishEvents } from "../../swap/event/publish-events.ts";
import { createApp } from "../http/create-app.ts";
import { createHeldCalls } from "../key/held-calls.ts";
import { createRateLimits } from "../key/rate-limits.ts";
import { getEvents, getSwapEvents } from "../route/events.ts";
import { swapAnswer } from "../status/swap-answer.ts";
import { createEventFeed, type EventFeed } from "./create-event-feed.ts";

const rates = { quote: 1, build: 1, submit: 1, delegation: 1, status: 1_000, list: 1 };
const noRedis = { run: async () => undefined, close: () => {} };

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());

type Service = { app: FastifyInstance; feed: EventFeed; baseUrl: string };
const services: Service[] = [];
afterEach(async () => {
	for (const { app, feed } of services.splice(0)) {
		await app.close();
		feed.close();
	}
});

/** Starts a process that serves streams. Each API key is the id of its account. */
async function start({ perKey = 100, heartbeatMs = 10_000, port = 0 } = {}): Promise<Service> {
	const feed = createEventFeed({
		db: database.pool,
		statusOf: (swap) =>
			swapAnswer(swap, { finalitySeconds: new Map(), explorers: { transaction: () => undefined } }),
		pollMs: 20,
	});
	const parts = {
		feed,
		heldStreams: createHeldCalls({ redis: noRedis }),
		limits: { perKey, perProcess: 1_000 },
		random: () => 0,
	};
	const app = createApp({
		routes: [getEvents(parts), getSwapEvents({ db: database.pool, ...parts })],
		apiKeys: {
			async authenticate(key) {
				if (!key?.includes("-")) throw new SwapError("UNAUTHORIZED", undefined);
				return {
					accountId: key,
					accountCreatedAt: new Date(0),
					keyId: key,
					limits: { rates, heldStatusCalls: 50 },
				};
			},
		},
		rateLimits: createRateLimits({ redis: noRedis, unauthenticatedPerSecond: 100 }),
		log: pino({ level: "silent" }),
		heartbeatMs,
		// The shortest reconnect delay that clients are sent.
		random: () => 0,
	});
	await app.listen({ port, host: "127.0.0.1" });
	const { port: bound } = app.server.address() as AddressInfo;
	const service = { app, feed, baseUrl: `http://127.0.0.1:${bound}` };
	services.push(service);
	return service;
}

const publish = () => publishEvents(database.pools.worker);
const insert = (accountId: string) => insertTestSwap(database.owner, { accountId });
const move = (uuid: SwapUuid, to: string) => moveTestSwap(database.owner, uuid, to);

/** Collects what a stream yields until it ends or is aborted. */
function collect(events: AsyncGenerator<StreamedEvent>): { got: StreamedEvent[]; over: Promise<unknown> } {
	const got: StreamedEvent[] = [];
	const over = (async () => {
		for await (const event of events) got.push(event);
	})();
	return { got, over: over.catch((error: unknown) => error) };
}
const reached = (events: readonly StreamedEvent[]) =>
	events.map((one) =>
		one.kind === "reset"
			? `reset: ${one.reason}`
			: one.event.data.status === "pending"
				? one.event.data.stage
				: one.event.data.status,
	);

test("a swap's stream sends all its events from the first, with the body of a status call, and ends with the swap", async () => {
	const { baseUrl } = await start();
	const accountId = randomUUID();
	const uuid = await insert(accountId);
	await move(uuid, "deposited");
	await publish();
	const client = createClient({ baseUrl, apiKey: accountId });
	const { got, over } = collect(streamEvents(client, { swapId: toSwapId(uuid) }));
	await expect.poll(() => reached(got)).toEqual(["opening", "deposited"]);
	await move(uuid, "delivering");
	await move(uuid, "settled");
	await publish();
	expect(await over).toBeUndefined();
	expect(reached(got)).toEqual(["opening", "deposited", "delivering", "settled"]);
	const asText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
	for (const one of got) {
		if (one.kind === "event") swapEventSchema.strict().parse(JSON.parse(JSON.stringify(one.event, asText)));
	}
	expect(new Set(got.map((one) => one.kind === "event" && one.event.id)).size).toBe(4);
	const again = collect(streamEvents(client, { swapId: toSwapId(uuid) }));
	expect(await again.over).toBeUndefined();
	expect(reached(again.got)).toEqual(["opening", "deposited", "delivering", "settled"]);
});

test("an account's stream begins at the current position and sends no events of other accounts", async () => {
	const { baseUrl, feed } = await start();
	const [mine, other] = [randomUUID(), randomUUID()];
	const old = await insert(mine);
	await publish();
	const stop = new AbortController();
	const { got } = collect(streamEvents(createClient({ baseUrl, apiKey: mine }), { signal: stop.signal }));
	await expect.poll(feed.size).toBe(1);
	// The stream has begun once the feed has read the head.
	await sleep(200);
	await Promise.all([insert(other), move(old, "deposited")]);
	await publish();
	await expect.poll(() => reached(got)).toEqual(["deposited"]);
	stop.abort();
	await expect.poll(feed.size).toBe(0);
	const stranger = await fetch(`${baseUrl}/swaps/${toSwapId(old)}/events`, {
		headers: { "x-api-key": other },
	});
	expect(stranger.status).toBe(404);
	expect(await stranger.json()).toMatchObject({ code: "SWAP_NOT_FOUND" });
});

test("a stream that is cut every second misses nothing, keeps the order, and sends nothing twice", async () => {
	const { baseUrl } = await start();
	const accountId = randomUUID();
	const path = ["deposited", "delivering", "refunding", "refunded"];
	const cuts: AbortController[] = [];
	const client = createClient({
		baseUrl,
		apiKey: accountId,
		fetch: (input, init) => {
			const cut = new AbortController();
			cuts.push(cut);
			return fetch(input, {
				...init,
				signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]),
			});
		},
	});
	const stop = new AbortController();
	const cutting = setInterval(() => cuts.at(-1)?.abort(new Error("cut")), 1_000);
	const { got } = collect(streamEvents(client, { after: "0", signal: stop.signal }));
	const uuids: SwapUuid[] = [];
	for (let i = 0; i < 12 || cuts.length <= 3; i++) {
		const uuid = await insert(accountId);
		uuids.push(uuid);
		for (const to of path) {
			await move(uuid, to);
			await publish();
			await sleep(100);
		}
	}
	await expect.poll(() => got.length).toBe(uuids.length * 5);
	clearInterval(cutting);
	stop.abort();
	const ids = got.map((one) => (one.kind === "event" ? one.event.id : one.kind));
	expect(new Set(ids).size).toBe(ids.length);
	for (const uuid of uuids) {
		const ofSwap = got.filter((one) => one.kind === "event" && one.event.data.swapId === toSwapId(uuid));
		expect(reached(ofSwap)).toEqual(["opening", ...path]);
	}
});

test("a stopping process ends its streams, and clients continue at another one without a gap", async () => {
	const first = await start();
	const accountId = randomUUID();
	const uuid = await insert(accountId);
	await publish();
	const client = createClient({ baseUrl: first.baseUrl, apiKey: accountId });
	const { got, over } = collect(streamEvents(client, { swapId: toSwapId(uuid) }));
	await expect.poll(() => got.length).toBe(1);
	await first.app.close();
	first.feed.close();
	await move(uuid, "deposited");
	await move(uuid, "delivering");
	await move(uuid, "settled");
	await publish();
	await start({ port: Number(new URL(first.baseUrl).port) });
	expect(await over).toBeUndefined();
	expect(reached(got)).toEqual(["opening", "deposited", "delivering", "settled"]);
});

test("a cursor from before a restore, or whose events are deleted, gets a notice that events may be missing", async () => {
	const { baseUrl } = await start();
	const accountId = randomUUID();
	const uuid = await insert(accountId);
	await publish();
	const client = createClient({ baseUrl, apiKey: accountId });
	const from = async (after: string) => {
		const stop = new AbortController();
		const { got } = collect(streamEvents(client, { after, signal: stop.signal }));
		await expect.poll(() => got.length).toBeGreaterThan(0);
		stop.abort();
		return reached(got)[0];
	};
	expect(await from("7-1")).toBe("reset: restored");
	expect(await from("0-999999999")).toBe("reset: restored");
	await pruneEvents(database.pools.worker, { retentionMs: 0, nowMs: Date.now() + 60_000 });
	expect(await from("0-0")).toBe("reset: expired");
	await move(uuid, "deposited");
	await publish();
	expect(await from("0")).toBe("deposited");
});

test("a key has a limited number of streams, may open another one when one ends, and gets the reason of a refusal", async () => {
	const { baseUrl, feed } = await start({ perKey: 1 });
	const headers = { "x-api-key": randomUUID() };
	const stop = new AbortController();
	const first = await fetch(`${baseUrl}/events`, { headers, signal: stop.signal });
	expect(first.status).toBe(200);
	expect(first.headers.get("content-type")).toBe("text/event-stream");
	expect(first.headers.get("x-accel-buffering")).toBe("no");
	expect(first.headers.get("cache-control")).toBe("no-store, no-transform");
	expect(first.headers.get("x-request-id")).not.toBeNull();
	const second = await fetch(`${baseUrl}/events`, { headers });
	expect(second.status).toBe(429);
	expect(await second.json()).toMatchObject({ code: "RATE_LIMITED", details: { reason: "event_streams" } });
	stop.abort();
	await expect.poll(feed.size).toBe(0);
	const third = await fetch(`${baseUrl}/events`, { headers });
	expect(third.status).toBe(200);
	await third.body?.cancel();
});

test("a quiet stream sends comments, so that proxies keep it open", async () => {
	const { baseUrl } = await start({ heartbeatMs: 20 });
	const answer = await fetch(`${baseUrl}/events`, { headers: { "x-api-key": randomUUID() } });
	let text = "";
	for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
		text += chunk;
		if (text.split(": heartbeat").length > 3) break;
	}
	expect(text.startsWith("retry: 1000\n\n")).toBe(true);
});

test.each(["x", "1", "-1", "0-1-2", "0-01", " "])(
	"Last-Event-ID %j is refused with the expected form",
	async (id) => {
		const { baseUrl } = await start();
		const headers = { "x-api-key": randomUUID(), "last-event-id": id };
		const answer = await fetch(`${baseUrl}/events`, { headers });
		// Spaces around a header's value do not count, so this one is empty.
		if (id === " ") return answer.body?.cancel();
		expect(answer.status).toBe(400);
		expect(await answer.json()).toMatchObject({ code: "INVALID_REQUEST", next: "fix_request" });
	},
);

test("a caller that does not read is disconnected, and the others receive everything", async () => {
	const sent: string[] = [];
	const feed = createEventFeed({
		db: database.pool,
		statusOf: (swap) =>
			swapAnswer(swap, { finalitySeconds: new Map(), explorers: { transaction: () => undefined } }),
		pollMs: 20,
	});
	const accountId = randomUUID();
	const gone = once(new EventTarget(), "never", { signal: AbortSignal.timeout(1) }).catch(() => {});
	let isEnded = false;
	const followed = { accountId, after: undefined };
	feed.follow(followed, {
		send: () => false,
		drained: () => gone.then(() => {}),
		end: () => {
			isEnded = true;
		},
	});
	const sink = { send: (text: string) => sent.push(text) > 0, drained: async () => {}, end: () => {} };
	feed.follow(followed, sink);
	await sleep(200);
	await insert(accountId);
	await insert(accountId);
	await publish();
	await expect.poll(() => sent.length).toBe(2);
	expect(isEnded).toBe(true);
	expect(feed.size()).toBe(1);
	feed.close();
});
