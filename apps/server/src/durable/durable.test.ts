import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTestRestate, type TestRestate } from "../../test/start-test-restate.ts";
import { createLog } from "../log.ts";
import { connectEngine } from "./connect-engine.ts";
import type { Durable, Engine, ObjectExecution, SwapExecution } from "./durable.ts";
import { connectEngineAdmin } from "./engine-admin.ts";
import { registerDeployment } from "./register-deployment.ts";
import { type DurableServer, serveDurable } from "./serve-durable.ts";

let restate: TestRestate;
let server: DurableServer;
let engine: Engine;
// Each test has executions of its own, under keys of its own.
const swaps = new Map<string, SwapExecution>();
const pumps = new Map<string, ObjectExecution>();

beforeAll(async () => {
	restate = await startTestRestate();
	server = await serve(0);
	engine = connectEngine(restate);
	await registerDeployment({ admin: connectEngineAdmin(restate), url: server.url });
});
afterEach(() => {
	swaps.clear();
	pumps.clear();
});
afterAll(async () => {
	await server.close();
	await restate.stop();
});

function serve(port: number): Promise<DurableServer> {
	const pump: ObjectExecution = async (durable, key) => pumps.get(key)?.(durable, key);
	return serveDurable({
		swap: async (durable, uuid) => swaps.get(uuid)?.(durable, uuid),
		lane: pump,
		attestation: pump,
		host: "127.0.0.1",
		port,
		retryMaxMs: 200,
		log: createLog({ level: "silent", process: "test" }),
	});
}

test("a workflow waits until it is woken, and a wait that is not woken times out", async () => {
	const uuid = randomUUID();
	const signalId = Promise.withResolvers<string>();
	const outcomes = Promise.withResolvers<string[]>();
	swaps.set(uuid, async (durable) => {
		const first = await durable.newSignal();
		signalId.resolve(first.id);
		const woken = await first.wait(60_000);
		const second = await durable.newSignal();
		outcomes.resolve([woken, await second.wait(50)]);
	});
	await engine.startSwap(uuid);
	await engine.raise(await signalId.promise);
	expect(await outcomes.promise).toEqual(["signalled", "timeout"]);
});

test("a signal raised before the wait, raised twice, or of nobody does no harm", async () => {
	const uuid = randomUUID();
	const outcome = Promise.withResolvers<string>();
	swaps.set(uuid, async (durable) => {
		const signal = await durable.newSignal();
		await durable.step("raised", () => engine.raise(signal.id));
		outcome.resolve(await signal.wait(60_000));
		await engine.raise(signal.id);
	});
	await engine.startSwap(uuid);
	expect(await outcome.promise).toBe("signalled");
	await engine.raise("prom_1NMyOAvDK2CcBjUH4Rmb7eGBp0DNNDnmsAAAAAQ");
	await engine.raise("nonsense");
});

test("a workflow that was started before is not started again", async () => {
	const uuid = randomUUID();
	let runs = 0;
	const ended = Promise.withResolvers<void>();
	swaps.set(uuid, async (durable) => {
		await durable.step("counted", async () => {
			runs++;
		});
		ended.resolve();
	});
	await Promise.all(Array.from({ length: 20 }, () => engine.startSwap(uuid)));
	await ended.promise;
	await engine.startSwap(uuid);
	await inOrder();
	expect(runs).toBe(1);
});

test("pokes with one dedupe key run once, and those of one object one after another", async () => {
	const key = randomUUID();
	const keys: string[] = [];
	let running = 0;
	let most = 0;
	pumps.set(key, async (_, ran) => {
		most = Math.max(most, ++running);
		keys.push(ran);
		await sleep(20);
		running--;
	});
	await Promise.all([
		...Array.from({ length: 10 }, () =>
			engine.poke({ object: "lane", key }, { delayMs: 30, dedupeKey: `${key} at noon` }),
		),
		engine.poke({ object: "lane", key }),
		engine.poke({ object: "lane", key }),
	]);
	await expect.poll(() => keys.length, { timeout: 5_000 }).toBe(3);
	await inOrder();
	expect(keys).toEqual([key, key, key]);
	expect(most).toBe(1);
});

test("an execution pokes an object", async () => {
	const uuid = randomUUID();
	const poked = Promise.withResolvers<string>();
	pumps.set(`of ${uuid}`, async (_, key) => poked.resolve(key));
	swaps.set(uuid, (durable) =>
		durable.poke({ object: "attestation", key: `of ${uuid}` }, { delayMs: 10, dedupeKey: uuid }),
	);
	await engine.startSwap(uuid);
	expect(await poked.promise).toBe(`of ${uuid}`);
});

test("a step that fails is tried until it works, and what came before it is not run again", async () => {
	const uuid = randomUUID();
	const ran: string[] = [];
	const amounts = Promise.withResolvers<unknown>();
	swaps.set(uuid, async (durable) => {
		const amount = await durable.step("priced", async () => {
			ran.push("priced");
			return { amount: 10n ** 30n, reason: undefined, at: new Date(0) };
		});
		await durable.step("sent", async () => {
			ran.push("sent");
			if (ran.length < 6) throw new Error("not yet");
		});
		amounts.resolve(amount);
	});
	await engine.startSwap(uuid);
	expect(await amounts.promise).toEqual({ amount: 10n ** 30n, reason: undefined, at: new Date(0) });
	expect(ran).toEqual(["priced", ...Array(5).fill("sent")]);
});

test("kill -9 of the engine and a restart of ours lose no step and no waiting workflow", async () => {
	const uuids = Array.from({ length: 20 }, () => randomUUID());
	const before = new Map<string, number>();
	const signals = new Map<string, string>();
	const ended = new Set<string>();
	const run = async (durable: Durable, uuid: string) => {
		await durable.step("deposit-seen", async () => {
			before.set(uuid, (before.get(uuid) ?? 0) + 1);
		});
		const signal = await durable.newSignal();
		await durable.step("looked", async () => {
			signals.set(uuid, signal.id);
		});
		await signal.wait(60_000);
		await durable.step("delivered", async () => {
			ended.add(uuid);
		});
	};
	for (const uuid of uuids) swaps.set(uuid, run);
	await Promise.all(uuids.map((uuid) => engine.startSwap(uuid)));
	await expect.poll(() => signals.size, { timeout: 10_000 }).toBe(uuids.length);

	const { port } = new URL(server.url);
	await Promise.all([restate.crash(), server.close()]);
	server = await serve(Number(port));
	await registerDeployment({ admin: connectEngineAdmin(restate), url: server.url });
	for (const id of signals.values()) {
		await expect
			.poll(
				() =>
					engine.raise(id).then(
						() => true,
						() => false,
					),
				{ timeout: 20_000 },
			)
			.toBe(true);
	}
	await expect.poll(() => ended.size, { timeout: 20_000 }).toBe(uuids.length);
	expect([...before.values()]).toEqual(uuids.map(() => 1));
}, 60_000);

/** Whatever was asked of the engine before has begun once this has come through. */
async function inOrder(): Promise<void> {
	const key = randomUUID();
	const passed = Promise.withResolvers<void>();
	pumps.set(key, async () => passed.resolve());
	await engine.poke({ object: "lane", key }, { delayMs: 100 });
	await passed.promise;
}
