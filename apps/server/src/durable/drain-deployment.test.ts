import { randomUUID } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { startTestRestate, type TestRestate } from "../../test/start-test-restate.ts";
import { createLog } from "../log.ts";
import { connectEngine } from "./connect-engine.ts";
import { drainDeployment } from "./drain-deployment.ts";
import type { Engine } from "./durable.ts";
import { connectEngineAdmin, type EngineAdmin } from "./engine-admin.ts";
import { isSuperseded, keepRegistered, registerDeployment } from "./register-deployment.ts";
import { type DurableServer, serveDurable } from "./serve-durable.ts";
import { createTakeOver } from "./take-over.ts";

const log = createLog({ level: "silent", process: "test" });
const patience = { timeout: 30_000 };
// Drains look once a second, and timers take seconds to ring.
vi.setConfig({ testTimeout: 60_000 });

let restate: TestRestate;
let engine: Engine;
let admin: EngineAdmin;
const workers: Worker[] = [];

beforeAll(async () => {
	restate = await startTestRestate();
	engine = connectEngine(restate);
	admin = connectEngineAdmin(restate);
});
afterEach(async () => {
	for (const { server, pumping, id: worker } of workers.splice(0)) {
		pumping.resolve();
		// Else the next test's workers would be given it.
		for (const { id } of await admin.unfinishedOn(worker)) await admin.kill(id);
		await server.close();
		const id = await admin.findDeployment(server.url);
		if (id !== undefined) await admin.removeDeployment(id);
	}
});
afterAll(() => restate.stop());

type Worker = {
	server: DurableServer;
	id: string;
	isSuperseded: boolean;
	/** Swaps that began on it, with the number of the execution, and those that it saw to their end. */
	began: [uuid: string, execution: number][];
	ended: string[];
	/** Lanes of which a pump began on it, and of which one ended. Each lasts until `pumping` is resolved. */
	pumped: { began: string[]; ended: string[] };
	pumping: PromiseWithResolvers<void>;
};

/** By swap: what wakes its latest execution. Each waits until it is woken, then ends. */
const signals = new Map<string, string>();

/** A version on which so many swaps run, and one pump of a lane that does not end. */
async function startOldInPump({ swaps: count = 0 }: { swaps?: number } = {}): Promise<{
	old: Worker;
	key: string;
	swaps: string[];
}> {
	const old = await startWorker();
	const key = randomUUID();
	const swaps = await startSwaps(count);
	await engine.poke({ object: "lane", key });
	await expect.poll(() => old.pumped.began, patience).toEqual([key]);
	return { old, key, swaps };
}

/** A worker, as the engine sees one. */
async function startWorker({
	port = 0,
	waitMs = 600_000,
	stepsBefore = 0,
	stepsAfter = 0,
}: {
	port?: number;
	/** How long a swap waits for its signal. */
	waitMs?: number;
	/** What each execution does before it waits, and after. */
	stepsBefore?: number;
	stepsAfter?: number;
} = {}): Promise<Worker> {
	const began: Worker["began"] = [];
	const ended: string[] = [];
	const pumped: Worker["pumped"] = { began: [], ended: [] };
	const pumping = Promise.withResolvers<void>();
	const server = await serveDurable({
		swap: async (durable, uuid, execution = 0) => {
			await durable.step("began", async () => {
				began.push([uuid, execution]);
			});
			for (let i = 0; i < stepsBefore; i++) await durable.step("considered", async () => {});
			const signal = await durable.newSignal();
			await durable.step("looked", async () => {
				signals.set(uuid, signal.id);
			});
			await signal.wait(waitMs);
			for (let i = 0; i < stepsAfter; i++) await durable.step("considered", async () => {});
			await durable.step("looked", async () => {
				ended.push(uuid);
			});
		},
		lane: async (durable, key) => {
			await durable.step("jobs-taken", async () => {
				pumped.began.push(key);
				await pumping.promise;
				pumped.ended.push(key);
			});
		},
		attestation: async () => {},
		host: "127.0.0.1",
		port,
		retryMaxMs: 200,
		log,
	});
	const worker = {
		...{ server, began, ended, pumped, pumping },
		...(await registerDeployment({ admin, url: server.url })),
	};
	workers.push(worker);
	return worker;
}

async function startSwaps(count: number): Promise<string[]> {
	const uuids = Array.from({ length: count }, () => randomUUID());
	await Promise.all(uuids.map((uuid) => engine.startSwap(uuid)));
	await expect.poll(() => uuids.filter((uuid) => !signals.has(uuid)), patience).toEqual([]);
	return uuids;
}

async function endSwaps(uuids: readonly string[]): Promise<void> {
	await Promise.all(uuids.map((uuid) => engine.raise(signals.get(uuid) ?? "")));
}

function drain({ id }: Worker, { patienceMs = Number.POSITIVE_INFINITY } = {}) {
	return drainDeployment({ admin, engine, deploymentId: id, patienceMs, log });
}

function createTestTakeOver({ afterMs = 2_000, hungAfterMs = 60_000, changes = {} as Partial<EngineAdmin> }) {
	const nowMs = () => performance.now();
	return createTakeOver({ admin: { ...admin, ...changes }, engine, afterMs, hungAfterMs, nowMs, log });
}

/** Looks on behalf of a worker until the test is over, as the newest one does. */
async function takeOverWhile(
	worker: Worker,
	condition: () => Promise<boolean> | boolean,
	patiences: { afterMs?: number; hungAfterMs?: number } = {},
): Promise<void> {
	const takeOver = createTestTakeOver(patiences);
	await expect
		.poll(async () => {
			await takeOver(worker.id);
			return condition();
		}, patience)
		.toBe(true);
}

const byUuid = ([a]: [string, number], [b]: [string, number]) => (a < b ? -1 : 1);
const inTurn = (uuids: readonly string[], execution: number) =>
	uuids.map((uuid): [string, number] => [uuid, execution]).toSorted(byUuid);

test("swaps under way go on at once on the new version, hear no timer of before, and the old one is forgotten", async () => {
	const waitMs = 6_000;
	// The timers are set late in the old executions, and what the new ones do last comes at the same place.
	const old = await startWorker({ waitMs, stepsBefore: 10 });
	const before = await startSwaps(50);
	const startedAt = performance.now();
	expect(await isSuperseded(admin, old.id)).toBe(false);
	const next = await startWorker({ stepsAfter: 20 });
	expect(await isSuperseded(admin, old.id)).toBe(true);
	const after = await startSwaps(10);
	expect(await drain(old)).toEqual([]);
	await expect
		.poll(() => next.began.toSorted(byUuid), patience)
		.toEqual([...inTurn(before, 1), ...inTurn(after, 0)].toSorted(byUuid));
	await expect.poll(() => admin.findDeployment(old.server.url), patience).toBeUndefined();
	await old.server.close();

	// All timers of the old executions have rung by then.
	await expect.poll(() => performance.now() - startedAt, patience).toBeGreaterThan(waitMs + 1_000);
	expect(await admin.unfinishedOn(next.id)).toHaveLength(before.length + after.length);
	await endSwaps([...before, ...after]);
	await expect.poll(() => next.ended.toSorted(), patience).toEqual([...before, ...after].toSorted());
	await expect.poll(() => admin.unfinishedOn(next.id), patience).toEqual([]);
	expect(old.ended).toEqual([]);
});

test("a drain waits for a pump that runs, and the lane goes on on the new version", async () => {
	const { old, key } = await startOldInPump();
	const next = await startWorker();
	next.pumping.resolve();
	await engine.poke({ object: "lane", key });
	expect(await drain(old, { patienceMs: 2_000 })).toMatchObject([{ service: "lane", key }]);
	expect(next.pumped.began).toEqual([]);

	const draining = drain(old);
	old.pumping.resolve();
	expect(await draining).toEqual([]);
	expect(old.pumped.ended).toEqual([key]);
	await expect.poll(() => next.pumped.ended, patience).toEqual([key]);
});

test("an engine that dies and comes back during a drain loses no swap", async () => {
	const old = await startWorker();
	const swaps = await startSwaps(30);
	const next = await startWorker();
	let killed = 0;
	const draining = drainDeployment({
		admin: {
			...admin,
			kill: async (id) => {
				if (++killed === 10) await restate.crash();
				await admin.kill(id);
			},
		},
		...{ engine, deploymentId: old.id, patienceMs: Number.POSITIVE_INFINITY, log },
	});
	expect(await draining).toEqual([]);
	// An engine that did not hear the end of a step asks for it again.
	const began = () => [...new Map(next.began).entries()].toSorted(byUuid);
	await expect.poll(began, patience).toEqual(inTurn(swaps, 1));
	await expect.poll(() => admin.unfinishedOn(next.id), patience).toHaveLength(swaps.length);
	await endSwaps(swaps);
	await expect.poll(() => admin.unfinishedOn(next.id), patience).toEqual([]);
	expect([...new Set(next.ended)].toSorted()).toEqual(swaps.toSorted());
});

test("a version that is gone in the middle of a pump and of its swaps leaves both to the newest", async () => {
	const { old, key, swaps } = await startOldInPump({ swaps: 30 });
	const between = await startWorker();
	const next = await startWorker();
	next.pumping.resolve();
	await old.server.close();
	await engine.poke({ object: "lane", key });
	await endSwaps(swaps);

	// Only the newest one does.
	const takeOver = createTestTakeOver({ afterMs: 0 });
	await expect.poll(async () => (await admin.underWayElsewhere(next.id)).length, patience).toBe(31);
	await takeOver(between.id);
	expect(next.pumped.began).toEqual([]);

	await takeOverWhile(next, async () => (await admin.unfinishedOn(old.id)).length === 0);
	// What was queued, and one for what was not done.
	await expect.poll(() => next.pumped.ended, patience).toEqual([key, key]);
	await expect.poll(() => next.began.toSorted(byUuid), patience).toEqual(inTurn(swaps, 1));
	await endSwaps(swaps);
	await expect.poll(() => next.ended.toSorted(), patience).toEqual(swaps.toSorted());
	expect(old.ended).toEqual([]);
});

test("an address that takes connections and never answers keeps nothing for long", async () => {
	const { old, key, swaps } = await startOldInPump({ swaps: 3 });
	const next = await startWorker();
	next.pumping.resolve();
	await old.server.close();
	const sockets = new Set<Socket>();
	const mute = createServer((socket) => void sockets.add(socket));
	await new Promise<void>((resolve) => {
		mute.listen(Number(new URL(old.server.url).port), "127.0.0.1", resolve);
	});
	try {
		// Each is on its way to an answer that does not come.
		await expect
			.poll(async () => (await admin.underWayElsewhere(next.id)).map(({ status }) => status), patience)
			.toEqual(Array(4).fill("running"));
		await takeOverWhile(next, async () => (await admin.unfinishedOn(old.id)).length === 0, {
			hungAfterMs: 3_000,
		});
		await expect.poll(() => next.pumped.ended, patience).toEqual([key]);
		await expect.poll(() => next.began.toSorted(byUuid), patience).toEqual(inTurn(swaps, 1));
	} finally {
		for (const socket of sockets) socket.destroy();
		await new Promise((resolve) => mute.close(resolve));
	}
});

test("a pump that hangs in its first attempt on an older version is taken over", async () => {
	const { old, key } = await startOldInPump();
	const next = await startWorker();
	next.pumping.resolve();
	await takeOverWhile(next, () => next.pumped.ended.length > 0, { hungAfterMs: 3_000 });
	expect(next.pumped.ended).toEqual([key]);
	expect(old.pumped.ended).toEqual([]);
});

test("pumps are taken over before swaps, and one that cannot be keeps none of the others back", async () => {
	const { old, swaps } = await startOldInPump({ swaps: 45 });
	const next = await startWorker();
	next.pumping.resolve();
	await old.server.close();
	await endSwaps(swaps);
	await expect.poll(async () => (await admin.underWayElsewhere(next.id)).length, patience).toBe(46);
	const pump = (await admin.unfinishedOn(old.id)).find(({ service }) => service === "lane");
	const killed: string[] = [];
	const kill = async (id: string) => {
		killed.push(id);
		if (killed.length === 2) throw new Error("a timeout");
		await admin.kill(id);
	};
	await createTestTakeOver({ afterMs: 0, hungAfterMs: 0, changes: { kill } })(next.id);
	expect(killed[0]).toBe(pump?.id);
	await expect.poll(() => admin.unfinishedOn(old.id), patience).toHaveLength(1);
});

test("what a removed version had begun is taken over as well", async () => {
	const old = await startWorker();
	const swaps = await startSwaps(3);
	const next = await startWorker();
	await admin.removeDeployment(old.id);
	await old.server.close();
	await takeOverWhile(next, () => next.began.length === swaps.length);
	expect(next.began.toSorted(byUuid)).toEqual(inTurn(swaps, 1));
});

test("what goes on at an older version is left there", async () => {
	const old = await startWorker();
	const [swap = ""] = await startSwaps(1);
	await engine.poke({ object: "lane", key: swap });
	await expect.poll(() => old.pumped.began, patience).toEqual([swap]);
	const next = await startWorker();
	const startedAt = performance.now();
	await takeOverWhile(next, () => performance.now() - startedAt > 4_000);
	await endSwaps([swap]);
	old.pumping.resolve();
	await expect.poll(() => [old.ended, old.pumped.ended], patience).toEqual([[swap], [swap]]);
	expect(next.began).toEqual([]);
});

test("an older version that comes back at its address does not take over, and finishes what is left there", async () => {
	const old = await startWorker();
	const [swap = ""] = await startSwaps(1);
	const next = await startWorker();
	await old.server.close();
	await endSwaps([swap]);
	const again = await startWorker({ port: Number(new URL(old.server.url).port) });
	expect(again).toMatchObject({ id: old.id, isSuperseded: true });
	expect(await admin.newestDeployment()).toBe(next.id);
	await expect.poll(() => again.ended, patience).toEqual([swap]);
	expect(await drain(again)).toEqual([]);
	await expect.poll(() => admin.findDeployment(old.server.url), patience).toBeUndefined();
});

test("the newest version that starts again at its address stays the newest", async () => {
	const first = await startWorker();
	await first.server.close();
	const again = await startWorker({ port: Number(new URL(first.server.url).port) });
	expect(again).toMatchObject({ id: first.id, isSuperseded: false });
	await startSwaps(1);
	expect(again.began).toHaveLength(1);
});

test("an engine that has lost its data is told of the newest version again, and of no older one", async () => {
	const old = await startWorker();
	const next = await startWorker();
	const keep = ({ id, isSuperseded: wasSuperseded, server: { url } }: Worker) =>
		keepRegistered({
			...{ admin, url, deployment: { id, isSuperseded: wasSuperseded } },
			isLeaving: () => false,
		});
	const older = { ...old, ...(await keep(old)) };
	expect(older).toMatchObject({ id: old.id, isSuperseded: true });
	expect(await keep(next)).toEqual({ id: next.id, isSuperseded: false });

	await restate.wipe();
	await expect(engine.startSwap(randomUUID())).rejects.toThrow("404");
	const again = await keep(next);
	expect(again.isSuperseded).toBe(false);
	expect(await keep(older)).toEqual({ id: old.id, isSuperseded: true });
	expect(await admin.findDeployment(old.server.url)).toBeUndefined();
	expect(await admin.newestDeployment()).toBe(again.id);
	await startSwaps(1);
	expect(next.began).toHaveLength(1);
});

test("an engine restored from a backup in which another version was the newest is told of this one again", async () => {
	const before = await startWorker();
	const now = await startWorker();
	// As in a backup of before it was registered.
	await admin.removeDeployment(now.id);
	expect(await admin.newestDeployment()).toBe(before.id);
	const keep = (isLeaving: boolean) =>
		keepRegistered({
			...{ admin, url: now.server.url, deployment: { id: now.id, isSuperseded: false } },
			isLeaving: () => isLeaving,
		});
	expect(await keep(true)).toEqual({ id: now.id, isSuperseded: false });
	expect(await admin.newestDeployment()).toBe(before.id);
	const { id } = await keep(false);
	expect(await admin.newestDeployment()).toBe(id);
	expect(await admin.findDeployment(now.server.url)).toBe(id);
});
