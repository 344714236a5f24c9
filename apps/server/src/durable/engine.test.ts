import { randomUUID } from "node:crypto";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createEndpointHandler, type WorkflowContext, workflow } from "@restatedev/restate-sdk";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTestRestate, type TestRestate } from "../../test/service/start-test-restate.ts";
import { createLog } from "../telemetry/log.ts";
import { connectEngine } from "./connect-engine.ts";
import type { Engine, Handler } from "./engine.ts";
import { connectEngineAdmin, type EngineAdmin } from "./engine-admin.ts";
import { isAlive, joinEngine, keepRegistered, registerDeployment } from "./join-engine.ts";
import { type DurableServer, serveDurable } from "./serve-durable.ts";

let restate: TestRestate;
let admin: EngineAdmin;
let server: DurableServer;
let engine: Engine;
// Each test has separate handlers, under separate keys.
const handlers = new Map<string, Handler>();
const log = createLog({ level: "silent", process: "test" });

beforeAll(async () => {
	restate = await startTestRestate();
	admin = connectEngineAdmin(restate);
	server = await serve(0);
	engine = connectEngine(restate);
	await register(server.url);
});
afterEach(() => handlers.clear());
afterAll(async () => {
	await server.close();
	await restate.stop();
});

function serve(
	port: number,
	handler: Handler = async (key) => handlers.get(key)?.(key),
): Promise<DurableServer> {
	return serveDurable({
		handlers: { round: handler, lane: handler, attestation: handler, crossCheck: handler },
		host: "127.0.0.1",
		port,
		identityKeys: restate.identityKeys,
		retryMaxMs: 200,
		log,
	});
}

async function register(url: string) {
	const removed: string[] = [];
	const deployment = await registerDeployment({
		admin,
		url,
		isAlive,
		onRemoved: (dead) => removed.push(new URL(dead.url).href),
	});
	return { ...deployment, removed };
}

test("pokes with one dedupe key run once, and pokes of one key run one after another", async () => {
	const key = randomUUID();
	const keys: string[] = [];
	let running = 0;
	let most = 0;
	handlers.set(key, async (ran) => {
		most = Math.max(most, ++running);
		keys.push(ran);
		await sleep(20);
		running--;
	});
	// Two processes, because one alone would merge its plain pokes.
	const other = connectEngine(restate);
	await Promise.all([
		...Array.from({ length: 10 }, () =>
			engine.poke({ object: "lane", key }, { delayMs: 30, dedupeKey: `${key} at noon` }),
		),
		engine.poke({ object: "lane", key }),
		other.poke({ object: "lane", key }),
	]);
	await expect.poll(() => keys.length, { timeout: 5_000 }).toBe(3);
	await inOrder();
	expect(keys).toEqual([key, key, key]);
	expect(most).toBe(1);
});

test("each object runs its handler, and a failing handler is retried until it works", async () => {
	const key = randomUUID();
	let tries = 0;
	const done: string[] = [];
	handlers.set(key, async () => {
		if (++tries % 3 !== 0) throw new Error("not yet");
		done.push(key);
	});
	for (const object of ["round", "lane", "attestation", "crossCheck"] as const) {
		const before = done.length;
		await engine.poke({ object, key });
		await expect.poll(() => done.length, { timeout: 5_000 }).toBe(before + 1);
	}
	expect(tries).toBe(12);
});

test("no accepted poke is lost by a kill -9 of the engine and a restart of the worker", async () => {
	const keys = Array.from({ length: 20 }, () => randomUUID());
	const ran = new Set<string>();
	for (const key of keys) {
		handlers.set(key, async () => {
			ran.add(key);
		});
	}
	const { port } = new URL(server.url);
	await server.close();
	await Promise.all(keys.map((key) => engine.poke({ object: "attestation", key })));
	await restate.crash();
	server = await serve(Number(port));
	await register(server.url);
	await expect.poll(() => ran.size, { timeout: 20_000 }).toBe(keys.length);
}, 60_000);

test("a starting worker removes a deployment that does not respond, and the handlers stuck there run", async () => {
	const key = randomUUID();
	const began = Promise.withResolvers<void>();
	const dead = await serve(0, async () => {
		began.resolve();
		await new Promise(() => {});
	});
	await register(dead.url);
	await engine.poke({ object: "lane", key });
	await began.promise;
	await dead.close();
	let runs = 0;
	handlers.set(key, async () => {
		runs++;
	});
	await engine.poke({ object: "lane", key });

	const next = await serve(0);
	const { removed, isSuperseded } = await register(next.url);
	expect({ removed, isSuperseded }).toEqual({ removed: [new URL(dead.url).href], isSuperseded: false });
	await expect.poll(() => runs, { timeout: 5_000 }).toBe(1);

	// The previous deployment is alive, and stays superseded.
	expect(await register(server.url)).toMatchObject({ isSuperseded: true, removed: [] });
	await next.close();
	expect(await register(server.url)).toMatchObject({
		isSuperseded: false,
		removed: [new URL(next.url).href],
	});
}, 30_000);

test("a worker that the engine cannot call back logs that, and continues trying", async () => {
	const lines: string[] = [];
	const ending = new AbortController();
	const { joined } = joinEngine({
		admin,
		url: "http://127.0.0.1:1",
		signal: ending.signal,
		log: createLog({ level: "warn", process: "test", write: (line) => lines.push(line) }),
	});
	await expect
		.poll(() => lines.join(""), { timeout: 20_000 })
		.toContain("not registered with the engine yet");
	ending.abort();
	await joined;
	expect(lines.length).toBe(1);
});

test("a worker that the engine no longer lists registers again, unless it has a successor", async () => {
	const { id } = await register(server.url);
	await restate.wipe();
	const deployment = { id, isSuperseded: false };
	const stayed = await keepRegistered({ admin, url: server.url, deployment: { id, isSuperseded: true } });
	expect(stayed.id).toBe(id);
	expect(await admin.readDeployments()).toEqual([]);
	const again = await keepRegistered({ admin, url: server.url, deployment });
	expect(await admin.newestDeployment()).toBe(again.id);
	await inOrder();
}, 30_000);

/** Waits until everything that was requested from the engine before has begun. */
async function inOrder(): Promise<void> {
	const key = randomUUID();
	const passed = Promise.withResolvers<void>();
	handlers.set(key, async () => passed.resolve());
	await engine.poke({ object: "lane", key }, { delayMs: 100 });
	await passed.promise;
}

test("workflows of the version before rounds are ended by the first worker that starts, at another or the same address", async () => {
	for (const isSameAddress of [false, true]) {
		await restate.wipe();
		const earlier = createServer(
			createEndpointHandler({ services: [earlierSwap], identityKeys: restate.identityKeys }),
		);
		await new Promise<void>((resolve) => earlier.listen(0, "127.0.0.1", resolve));
		const sessions = new Set<{ destroy: () => void }>();
		earlier.on("session", (session) => sessions.add(session));
		const { port } = earlier.address() as AddressInfo;
		await admin.register(`http://127.0.0.1:${port}`);
		await fetch(new URL(`/swap/${randomUUID()}/run/send`, restate.ingressUrl), { method: "POST" });
		await expect.poll(() => admin.unfinishedOfRetiredServices(), { timeout: 5_000 }).toHaveLength(1);
		await expect.poll(() => sessions.size, { timeout: 5_000 }).toBeGreaterThan(0);
		for (const session of sessions) session.destroy();
		await new Promise((resolve) => earlier.close(resolve));

		const next = await serve(isSameAddress ? port : 0);
		expect(await register(next.url)).toMatchObject({ isSuperseded: false });
		await expect.poll(() => admin.unfinishedOfRetiredServices(), { timeout: 5_000 }).toEqual([]);
		await inOrder();
		await next.close();
	}
}, 30_000);

const earlierSwap = workflow({
	name: "swap",
	handlers: { run: (ctx: WorkflowContext) => ctx.sleep(3_600_000) },
});
