import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type StatusResponse, type SwapEventBody, type SwapUuid, toSwapId } from "@geoswap/protocol";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertTestSwap, moveTestSwap } from "../../test/swap/insert-test-swap.ts";
import { parseSealKeys } from "../config/seal-keys.ts";
import { publishEvents } from "../swap/event/publish-events.ts";
import { createDeliverer, type DeliveryOutcome, retryPauseMs } from "./create-deliverer.ts";
import { createSender, type WebhookSender } from "./create-sender.ts";
import { newWebhookSecret, openSecret, sealSecret } from "./webhook-secret.ts";
import { deleteWebhook, insertWebhook, listWebhooks, queueDeliveries, rotateWebhook } from "./webhooks.ts";

const keys = parseSealKeys(`first:${randomBytes(32).toString("base64url")}`);
const pauseSeconds = { first: 5, longest: 3_600 };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let database: TestDatabase;
let sender: WebhookSender;
beforeAll(async () => {
	database = await createTestDatabase();
	sender = createSender({ isDevnet: true, timeoutMs: 5_000 });
});
afterAll(async () => {
	await sender.close();
	await database.drop();
});

type Received = { headers: IncomingHttpHeaders; body: string };
const receivers: Server[] = [];
afterEach(() => {
	for (const receiver of receivers.splice(0)) {
		receiver.close();
		receiver.closeAllConnections();
	}
});

/** Starts a receiver. `answer` returns its status, or undefined to hang up after the body was received. */
async function receive(answer: (received: Received) => number | undefined, port = 0) {
	const received: Received[] = [];
	const server = createServer((request, response) => {
		let body = "";
		request.on("data", (chunk) => {
			body += String(chunk);
		});
		request.on("end", () => {
			const one = { headers: request.headers, body };
			received.push(one);
			const status = answer(one);
			if (status === undefined) request.socket.destroy();
			else response.writeHead(status).end();
		});
	});
	receivers.push(server);
	server.listen(port, "127.0.0.1");
	await once(server, "listening");
	const stop = async () => {
		server.close();
		server.closeAllConnections();
		await once(server, "close");
	};
	return { received, stop, port: (server.address() as AddressInfo).port };
}

/** Adds an account with a webhook. */
async function addWebhook(port: number) {
	const accountId = randomUUID();
	await database.owner.query("insert into accounts (id, name) values ($1, $2)", [accountId, accountId]);
	const id = randomUUID();
	const secret = newWebhookSecret();
	const sealedSecret = sealSecret(keys, { webhookId: id, secret });
	const url = `http://127.0.0.1:${port}/hook`;
	expect(await insertWebhook(database.pools.api, { id, accountId, url, sealedSecret, most: 10 })).toBe(true);
	return { id, accountId, secret };
}

/** Creates a worker with a separate clock. */
function worker({ startMs = Date.now(), random = () => 0.5 } = {}) {
	let now = startMs;
	const outcomes: DeliveryOutcome[] = [];
	const deliverer = createDeliverer({
		db: database.pool,
		sender,
		keys,
		statusOf: ({ id, status, stage }) => ({ swapId: toSwapId(id), status, stage }) as StatusResponse,
		pauseSeconds,
		onOutcome: (outcome) => outcomes.push(outcome),
		random,
		nowMs: () => now,
		log: pino({ level: "silent" }),
	});
	return {
		outcomes,
		/** Advances the clock, then does what the loop of a worker does. */
		async pass(ms: number) {
			now += ms;
			await publishEvents(database.pool);
			await queueDeliveries(database.pool, { nowMs: now });
			await deliverer.deliverDue();
			await deliverer.idle();
		},
		nowMs: () => now,
	};
}

const waitingFor = async (accountId: string) => (await listWebhooks(database.pools.api, accountId))[0];
const move = (uuid: SwapUuid, to: string) => moveTestSwap(database.owner, uuid, to);
const insert = (accountId: string) => insertTestSwap(database.owner, { accountId });
const bodyOf = ({ body }: Received) => JSON.parse(body) as SwapEventBody;

function expectSigned({ headers, body }: Received, secret: string): void {
	const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
	const signature = new Webhook(secret).sign(String(headers["webhook-id"]), at, body);
	expect(String(headers["webhook-signature"]).split(" ")).toContain(signature);
}

test("a receiver that is down for an hour misses nothing, gets each swap's events in order, and acts once", async () => {
	const path = ["deposited", "delivering", "refunding", "refunded"];
	const acted = new Map<string, SwapEventBody>();
	let count = 0;
	const act = (one: Received) => {
		const id = String(one.headers["webhook-id"]);
		expect(id).toBe(bodyOf(one).id);
		if (!acted.has(id)) acted.set(id, bodyOf(one));
		// Every third answer is lost on the way back.
		return count++ % 3 === 2 ? undefined : 200;
	};
	const first = await receive(act);
	const { accountId, secret } = await addWebhook(first.port);
	const { pass } = worker();
	const uuids = await Promise.all(Array.from({ length: 6 }, () => insert(accountId)));
	await pass(0);
	await first.stop();
	for (let minute = 0; minute < 60; minute++) {
		const uuid = uuids[minute % uuids.length];
		const to = path[Math.floor(minute / uuids.length)];
		if (uuid && to) await move(uuid, to);
		await pass(minuteMs);
	}
	expect(await waitingFor(accountId)).toMatchObject({ failing_since: expect.any(Date), disabled_at: null });
	const second = await receive(act, first.port);
	for (let i = 0; i < 200 && (await waitingFor(accountId))?.waiting !== 0; i++) await pass(5 * minuteMs);
	expect(await waitingFor(accountId)).toMatchObject({ waiting: 0, given_up: 0, failing_since: null });
	for (const one of [...first.received, ...second.received]) expectSigned(one, secret);
	const reachedBy = (uuid: SwapUuid) =>
		[...acted.values()]
			.filter(({ data }) => data.swapId === toSwapId(uuid))
			.map(({ data }) => (data.status === "pending" ? data.stage : data.status));
	for (const uuid of uuids) expect(reachedBy(uuid)).toEqual(["opening", ...path]);
	expect(first.received.length + second.received.length).toBeGreaterThan(acted.size);
});

test("a webhook that fails for a day is disabled, and its account gets the reason", async () => {
	const { port } = await receive(() => 500);
	const { accountId } = await addWebhook(port);
	const { pass, outcomes } = worker();
	await insert(accountId);
	for (let hour = 0; hour <= 26; hour++) await pass(hourMs + 15 * minuteMs);
	expect(await waitingFor(accountId)).toMatchObject({
		waiting: 0,
		given_up: 1,
		last_error: "the receiver answered 500",
		disabled_at: expect.any(Date),
	});
	expect(outcomes.filter((outcome) => outcome === "given-up")).toHaveLength(1);
	const before = outcomes.length;
	await insert(accountId);
	await pass(hourMs);
	expect(outcomes).toHaveLength(before);
});

test("a receiver that answers 410 gets nothing more", async () => {
	const { port, received } = await receive(() => 410);
	const { accountId } = await addWebhook(port);
	const { pass } = worker();
	await insert(accountId);
	await pass(0);
	await insert(accountId);
	await pass(hourMs);
	expect(received).toHaveLength(1);
	expect(await waitingFor(accountId)).toMatchObject({ waiting: 0, disabled_at: expect.any(Date) });
});

/** Rotates the webhook's secret like the API. Returns the new one. */
async function rotate(
	{ id, accountId }: { id: string; accountId: string },
	{ nowMs, most = 10 }: { nowMs: number; most?: number },
) {
	const secret = newWebhookSecret();
	const sealedSecret = sealSecret(keys, { webhookId: id, secret });
	const rotation = { id, accountId, sealedSecret, previousUntilMs: nowMs + hourMs, nowMs, most };
	return { secret, outcome: await rotateWebhook(database.pools.api, rotation) };
}

test("after a rotation both secrets sign for a while, then only the new one", async () => {
	const { port, received } = await receive(() => 200);
	const webhook = await addWebhook(port);
	const { pass, nowMs } = worker();
	const next = await rotate(webhook, { nowMs: nowMs() });
	expect(next.outcome).toBe("rotated");
	await insert(webhook.accountId);
	await pass(0);
	await insert(webhook.accountId);
	await pass(2 * hourMs);
	const [both, one] = received;
	if (!both || !one) throw new Error("nothing was received");
	expectSigned(both, webhook.secret);
	expectSigned(both, next.secret);
	expectSigned(one, next.secret);
	expect(String(one.headers["webhook-signature"]).split(" ")).toHaveLength(1);
});

test("after repeated rotations every secret that a receiver may have signs until its expiry, and their number is limited", async () => {
	const { port, received } = await receive(() => 200);
	const webhook = await addWebhook(port);
	const { pass, nowMs } = worker();
	// The answers of the first two rotations were lost, so the receiver knows only the first secret.
	const lost = [await rotate(webhook, { nowMs: nowMs() }), await rotate(webhook, { nowMs: nowMs() })];
	await insert(webhook.accountId);
	await pass(hourMs / 2);
	const last = await rotate(webhook, { nowMs: nowMs(), most: 4 });
	const tooMany = await rotate(webhook, { nowMs: nowMs(), most: 4 });
	expect([last.outcome, tooMany.outcome]).toEqual(["rotated", "too many"]);
	await insert(webhook.accountId);
	await pass(0);
	await insert(webhook.accountId);
	await pass(hourMs / 2);
	const [three, four, two] = received;
	if (!three || !four || !two) throw new Error("nothing was received");
	const [first, second] = lost.map(({ secret }) => secret);
	for (const secret of [webhook.secret, first, second]) expectSigned(three, secret ?? "");
	for (const secret of [webhook.secret, first, second, last.secret]) expectSigned(four, secret ?? "");
	// The first two were replaced an hour ago, and the third half an hour ago.
	for (const secret of [second, last.secret]) expectSigned(two, secret ?? "");
	const signatures = [three, four, two].map(({ headers }) => String(headers["webhook-signature"]).split(" "));
	expect(signatures.map(({ length }) => length)).toEqual([3, 4, 2]);
	expect((await rotate(webhook, { nowMs: nowMs(), most: 4 })).outcome).toBe("rotated");
});

test("a webhook receives events of its account only, from creation to deletion", async () => {
	const { port, received } = await receive(() => 200);
	const { id, accountId } = await addWebhook(port);
	const other = await addWebhook(port);
	const { pass } = worker();
	const uuid = await insert(accountId);
	await pass(0);
	expect(received.map((one) => bodyOf(one).data.swapId)).toEqual([toSwapId(uuid)]);
	expect(await deleteWebhook(database.pools.api, { id, accountId: other.accountId })).toBe(false);
	expect(await deleteWebhook(database.pools.api, { id, accountId })).toBe(true);
	await move(uuid, "deposited");
	await pass(0);
	expect(received).toHaveLength(1);
});

test("a receiver that does not respond delays only the events for itself", async () => {
	const slow = createServer(() => {});
	receivers.push(slow);
	slow.listen(0, "127.0.0.1");
	await once(slow, "listening");
	const quick = await receive(() => 200);
	const stuck = await addWebhook((slow.address() as AddressInfo).port);
	const fine = await addWebhook(quick.port);
	await Promise.all([insert(stuck.accountId), insert(fine.accountId)]);
	const now = Date.now();
	const deliverer = createDeliverer({
		db: database.pool,
		sender,
		keys,
		statusOf: () => ({}) as StatusResponse,
		pauseSeconds,
		random: () => 0,
		nowMs: () => now,
		log: pino({ level: "silent" }),
	});
	await publishEvents(database.pool);
	await queueDeliveries(database.pool, { nowMs: now });
	await deliverer.deliverDue();
	await expect.poll(() => quick.received.length).toBe(1);
	await insert(fine.accountId);
	await publishEvents(database.pool);
	await queueDeliveries(database.pool, { nowMs: now });
	await expect
		.poll(async () => {
			await deliverer.deliverDue();
			return quick.received.length;
		})
		.toBe(2);
	await deliverer.idle();
});

test("pauses grow from seconds to an hour and differ by up to a fifth", () => {
	const pauseMs = (attempts: number, random: number) =>
		retryPauseMs(attempts, { pauseSeconds, random: () => random });
	const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 20].map((attempts) => pauseMs(attempts, 0.5) / 1_000);
	expect(pauses).toEqual([5, 15, 45, 135, 405, 1_215, 3_600, 3_600, 3_600]);
	expect([0, 1].map((random) => pauseMs(1, random))).toEqual([4_000, 6_000]);
});

test("a secret is stored sealed, and opens only with its key, and only for its webhook", async () => {
	const [webhookId, secret] = [randomUUID(), newWebhookSecret()];
	const sealed = sealSecret(keys, { webhookId, secret });
	expect(sealed).not.toContain(secret.slice("whsec_".length, 20));
	expect(openSecret(keys, { webhookId, sealed })).toBe(secret);
	expect(() => openSecret(keys, { webhookId: randomUUID(), sealed })).toThrow();
	const others = parseSealKeys(`first:${randomBytes(32).toString("base64url")}`);
	expect(() => openSecret(others, { webhookId, sealed })).toThrow();
	const later = parseSealKeys(`second:${randomBytes(32).toString("base64url")}`);
	expect(() => openSecret(later, { webhookId, sealed })).toThrow("the key first, which is not configured");
});
