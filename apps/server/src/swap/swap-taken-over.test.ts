import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInProcessDurable } from "../../test/in-process-durable.ts";
import { startTestRestate, type TestRestate } from "../../test/start-test-restate.ts";
import { createSwapScene, destinationId, originId, token, workflowOptions } from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { connectEngine } from "../durable/connect-engine.ts";
import { drainDeployment } from "../durable/drain-deployment.ts";
import { connectEngineAdmin } from "../durable/engine-admin.ts";
import { registerDeployment } from "../durable/register-deployment.ts";
import { serveDurable } from "../durable/serve-durable.ts";
import { readUnendedSwaps } from "../store/unended-swaps.ts";
import { createSwapWorkflow } from "./swap-workflow.ts";
import { sweep } from "./sweep.ts";

let database: TestDatabase;
let restate: TestRestate;
beforeAll(async () => {
	[database, restate] = await Promise.all([createTestDatabase(), startTestRestate()]);
	await database.pool.query("insert into stock values ($1, $2, 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await database.pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [
		destinationId,
		hexToBytes(token),
	]);
});
afterAll(() => Promise.all([database.drop(), restate.stop()]));

async function factsOf(uuid: string): Promise<string[]> {
	const { rows } = await database.pool.query("select fact from swap_events where swap_id = $1 order by seq", [
		uuid,
	]);
	return rows.map((row) => row.fact);
}

test("an execution from which another took over decides nothing more and ends, and takes away no signal", async () => {
	const { pool } = database;
	const scene = await createSwapScene(pool);
	const workflow = createSwapWorkflow(workflowOptions(pool, scene.clock));
	const signalId = async () =>
		(await pool.query("select signal_id from waits where swap_id = $1", [scene.uuid])).rows[0]?.signal_id;
	let signalOfSecond: string | undefined;
	const second = createInProcessDurable(() => Promise.reject(new Error("it waits")));
	second.newSignal = async () => ({ id: "of the second", wait: () => second.onWait(0) });
	const first = createInProcessDurable(async () => {
		// What both would act on.
		await scene.emit("Opened", originId);
		await scene.moveHeads(1);
		await expect(workflow(second, scene.uuid, 1)).rejects.toThrow("it waits");
		signalOfSecond = await signalId();
		return "signalled";
	});
	await workflow(first, scene.uuid);
	expect(first.steps).toEqual(["looked", "opening", "looked"]);
	expect(await factsOf(scene.uuid)).toEqual(["opening", "delivering"]);
	// What the first had queued may not have been told of.
	expect(second.pokes[0]).toEqual({ object: "lane", key: String(destinationId) });
	expect(second.pokes).toContainEqual({ object: "lane", key: String(originId) });
	expect(signalOfSecond).toBe("of the second");
	expect(await signalId()).toBe(signalOfSecond);
});

test("a decision of an execution from which another took over meanwhile is not applied", async () => {
	const { pool } = database;
	const scene = await createSwapScene(pool);
	const workflow = createSwapWorkflow(workflowOptions(pool, scene.clock));
	const first = createInProcessDurable(() => Promise.reject(new Error("it must not wait")));
	const { step } = first;
	first.step = async (name, run) => {
		if (name !== "looked") {
			const second = createInProcessDurable(() => Promise.reject(new Error("it waits")));
			second.newSignal = async () => ({ id: "of the second", wait: () => second.onWait(0) });
			await scene.emit("Opened", originId);
			await expect(workflow(second, scene.uuid, 1)).rejects.toThrow("it waits");
		}
		return step(name, run);
	};
	await workflow(first, scene.uuid);
	expect(first.steps).toEqual(["looked", "opening", "looked"]);
	expect((await factsOf(scene.uuid))[0]).not.toBe("opening");
	expect(await scene.jobs()).not.toHaveProperty("open");
});

test("a swap that has had all rounds of an execution is left to the next one, which the sweep starts", async () => {
	const { pool } = database;
	const scene = await createSwapScene(pool);
	const started: [string, number | undefined][] = [];
	const startSwap = async (uuid: string, execution?: number) => void started.push([uuid, execution]);
	const startedNow = async () => {
		started.splice(0);
		await sweep({ db: pool, engine: { startSwap }, nowMs: Date.now() + 60_000 });
		return started.filter(([uuid]) => uuid === scene.uuid);
	};
	const workflow = createSwapWorkflow(workflowOptions(pool, scene.clock, { mostRounds: 3 }));
	const durable = createInProcessDurable(async () => "timeout");
	const { step } = durable;
	// As after a crash in the middle of it.
	durable.step = async (name, run) => {
		await run();
		return step(name, run);
	};
	await workflow(durable, scene.uuid, 4);
	expect(durable.steps.filter((name) => name === "looked")).toHaveLength(3);
	expect(await startedNow()).toEqual([[scene.uuid, 5]]);

	// One that is late does not take the swap back from whoever goes on.
	await workflow(
		createInProcessDurable(async () => "timeout"),
		scene.uuid,
		4,
	);
	expect(await startedNow()).toEqual([[scene.uuid, 5]]);
	await workflow(
		createInProcessDurable(async () => "timeout"),
		scene.uuid,
		5,
	);
	expect(await startedNow()).toEqual([[scene.uuid, 6]]);
});

test("swaps that an old version has under way go on from the facts on the new one, and the sweep starts no other", async () => {
	const { pool } = database;
	const scenes = [];
	for (let i = 0; i < 5; i++) scenes.push(await createSwapScene(pool, { isReserved: false }));
	const [scene] = scenes;
	if (!scene) throw new Error("no scene");
	const uuids = scenes.map(({ uuid }) => uuid);
	const engine = connectEngine(restate);
	const admin = connectEngineAdmin(restate);
	const serve = async () => {
		const options = workflowOptions(pool, scene.clock);
		const server = await serveDurable({
			swap: createSwapWorkflow(options),
			lane: async () => {},
			attestation: async () => {},
			...{ host: "127.0.0.1", port: 0, retryMaxMs: 200, log: options.log },
		});
		return { ...server, ...(await registerDeployment({ admin, url: server.url })) };
	};
	const executions = async () =>
		(await readUnendedSwaps(pool, { createdBeforeMs: Date.now() + 1_000, after: undefined, limit: 100 }))
			.filter(({ id }) => uuids.includes(id))
			.map(({ execution }) => execution);
	const old = await serve();
	await Promise.all(uuids.map((uuid) => engine.startSwap(uuid)));
	await expect
		.poll(() => Promise.all(uuids.map(factsOf)), { timeout: 20_000 })
		.toEqual(uuids.map(() => ["opening"]));
	const next = await serve();
	const patienceMs = Number.POSITIVE_INFINITY;
	const { log } = workflowOptions(pool, scene.clock);
	expect(await drainDeployment({ admin, engine, deploymentId: old.id, patienceMs, log })).toEqual([]);
	await old.close();
	await expect.poll(executions, { timeout: 20_000 }).toEqual(uuids.map(() => 1));

	await sweep({ db: pool, engine, nowMs: Date.now() + 60_000 });
	const running = await admin.unfinishedOn(next.id);
	expect(
		running
			.map(({ key }) => key)
			.filter((key) => uuids.some((uuid) => key.startsWith(uuid)))
			.toSorted(),
	).toEqual(uuids.map((uuid) => `${uuid}.1`).toSorted());
	for (const { emit } of scenes) await emit("Opened", originId);
	await scene.moveHeads(1);
	const { rows } = await pool.query("select signal_id from waits where swap_id = any($1)", [uuids]);
	for (const { signal_id } of rows) await engine.raise(signal_id);
	await expect
		.poll(() => Promise.all(uuids.map(async (uuid) => (await factsOf(uuid))[0])), { timeout: 20_000 })
		.toEqual(uuids.map(() => "opening"));
	await expect
		.poll(async () => (await Promise.all(uuids.map(factsOf))).every((facts) => facts.length > 1), {
			timeout: 20_000,
		})
		.toBe(true);
	await next.close();
}, 60_000);
