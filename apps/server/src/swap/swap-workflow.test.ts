import { randomUUID } from "node:crypto";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInProcessDurable } from "../../test/in-process-durable.ts";
import {
	createSwapScene,
	destinationId,
	originId,
	type SwapScene,
	token,
	workflowOptions,
} from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { markDue } from "../store/due-signals.ts";
import { readSwap } from "../store/read-swap.ts";
import { createSwapWorkflow } from "./swap-workflow.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	const { pool } = database;
	await pool.query("insert into stock values ($1, $2, 1000, 1000, 0, 1), ($1, '\\xbb', 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
});
afterAll(() => database.drop());

/** Runs the workflow; every wait does the next thing of the list, and a second passes. */
async function run(scene: SwapScene, script: ((scene: SwapScene) => Promise<unknown>)[]): Promise<string[]> {
	const rest = [...script];
	const durable = createInProcessDurable(async () => {
		const next = rest.shift();
		if (!next) throw new Error(`it waits for more, after ${durable.steps.join(", ")}`);
		await next(scene);
		await scene.moveHeads(1);
		return "signalled";
	});
	await createSwapWorkflow(workflowOptions(database.pool, scene.clock))(durable, scene.uuid);
	expect(rest).toEqual([]);
	return durable.steps.filter((step) => step !== "looked");
}

async function reserved(): Promise<{ stock: bigint; volume: bigint }> {
	const { rows } = await database.pool.query(
		"select (select sum(reserved) from stock) as stock, (select sum(in_flight) from pair_volume) as volume",
	);
	return rows[0];
}

const pass = async (): Promise<void> => {};

test("a swap is settled at depth, and ends with its release final and nothing reserved", async () => {
	const scene = await createSwapScene(database.pool);
	const filled = { delivered: "400", spentToken: token, spent: "400" };
	const steps = await run(scene, [
		async ({ emit, jobs, setJob }) => {
			expect(await jobs()).toEqual({ open: "queued" });
			await setJob("open", "done");
			await emit("Opened", originId);
		},
		async ({ jobs, emit, setJob }) => {
			expect(await jobs()).toEqual({ open: "done", fill: "queued" });
			await setJob("fill", "done");
			await emit("Filled", destinationId, filled);
		},
		async ({ uuid }) => {
			expect(await readSwap(database.pool, uuid)).toMatchObject({ status: "settled", stage: "delivered" });
			expect(await reserved()).toEqual({ stock: 400n, volume: 7n });
		},
		pass,
		async ({ jobs, emit, setJob }) => {
			expect(await jobs()).toMatchObject({ release: "unattested" });
			await setJob("release", "done");
			await emit("Released", originId, { paid: true });
		},
		pass,
		pass,
	]);
	expect(steps).toEqual([
		"opening",
		"delivering",
		"delivered",
		"delivered",
		"delivery-final",
		"released",
		"released",
		"released",
	]);
	const swap = await readSwap(database.pool, scene.uuid);
	expect(swap).toMatchObject({ status: "settled", deliveredAmount: 400n });
	expect(swap?.endedAt).toBeDefined();
	expect(swap?.originTxHash).toBeDefined();
	expect(swap?.deliveryTxHash).toBeDefined();
	expect(await scene.jobs()).toEqual({});
	expect(await reserved()).toEqual({ stock: 0n, volume: 0n });
	const { rows } = await database.pool.query("select fact from swap_events where swap_id = $1 order by seq", [
		scene.uuid,
	]);
	expect(rows.map((row) => row.fact)).toEqual([
		"opening",
		"delivering",
		"delivered",
		"delivery-final",
		"released",
	]);
	expect((await database.pool.query("select from waits where swap_id = $1", [scene.uuid])).rowCount).toBe(0);
});

test("a fill that is refused is voided, then refunded, and the reason is told", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, [
		({ emit }) => emit("Opened", originId),
		({ setJob }) => setJob("fill", "refused", "price"),
		async ({ uuid, jobs, emit }) => {
			expect(await jobs()).toMatchObject({ void: "queued" });
			expect(await readSwap(database.pool, uuid)).toMatchObject({
				stage: "refunding",
				givingUp: "PRICE_MOVED",
			});
			expect(await reserved()).toEqual({ stock: 0n, volume: 0n });
			await emit("Voided", destinationId);
		},
		pass,
		pass,
		async ({ jobs, emit }) => {
			expect(await jobs()).toMatchObject({ refund: "unattested" });
			await emit("Refunded", originId, { paid: true });
		},
		async ({ uuid }) => {
			expect(await readSwap(database.pool, uuid)).toMatchObject({
				status: "refunded",
				failure: { code: "PRICE_MOVED" },
			});
		},
		pass,
	]);
	expect((await readSwap(database.pool, scene.uuid))?.endedAt).toBeDefined();
});

test("an order that is never opened fails, but only once that is final, and its reservation lapses before", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, [
		({ moveHeads }) => moveHeads(60),
		async ({ moveHeads }) => {
			expect(await reserved()).toEqual({ stock: 0n, volume: 0n });
			await moveHeads(14);
		},
		async ({ uuid }) => {
			expect(await readSwap(database.pool, uuid)).toMatchObject({ status: "pending" });
		},
		pass,
		pass,
	]);
	expect(await readSwap(database.pool, scene.uuid)).toMatchObject({
		status: "failed",
		failure: { code: "NOT_OPENED" },
	});
});

test("a late open reserves again, or is refunded where nothing is left", async () => {
	const scene = await createSwapScene(database.pool, { isReserved: false });
	const poor = await createSwapScene(database.pool, { isReserved: false });
	const stop = () => Promise.reject(new Error("seen enough"));
	await expect(run(scene, [({ emit }) => emit("Opened", originId), stop])).rejects.toThrow("seen enough");
	expect(await scene.jobs()).toMatchObject({ fill: "queued" });
	expect(await reserved()).toEqual({ stock: 400n, volume: 0n });

	await database.pool.query("update stock set balance = 700");
	await expect(run(poor, [({ emit }) => emit("Opened", originId), stop])).rejects.toThrow("seen enough");
	expect(await poor.jobs()).toMatchObject({ void: "queued" });
	expect(await readSwap(database.pool, poor.uuid)).toMatchObject({ givingUp: "NO_LIQUIDITY" });
	expect(await reserved()).toEqual({ stock: 400n, volume: 0n });
	await database.pool.query("update stock set balance = 1000, reserved = 0");
});

test("a decision that is applied twice is applied once", async () => {
	const scene = await createSwapScene(database.pool);
	// Every step runs twice, as after a crash that came before the engine heard of the first run.
	const rest = [
		() => scene.emit("Opened", originId),
		() => scene.emit("Filled", destinationId, { delivered: "400", spentToken: token, spent: "400" }),
		pass,
		pass,
		() => scene.emit("Released", originId, { paid: true }),
		pass,
		pass,
	];
	const durable = createInProcessDurable(async () => {
		await rest.shift()?.();
		await scene.moveHeads(1);
		return "timeout";
	});
	const twice = {
		...durable,
		step: async <T>(name: string, body: () => Promise<T>): Promise<T> => {
			await body();
			return durable.step(name, body);
		},
	};
	await createSwapWorkflow(workflowOptions(database.pool, scene.clock))(twice, scene.uuid);
	expect(await readSwap(database.pool, scene.uuid)).toMatchObject({ status: "settled" });
	expect(await reserved()).toEqual({ stock: 0n, volume: 0n });
	const { rows } = await database.pool.query("select fact from swap_events where swap_id = $1 order by seq", [
		scene.uuid,
	]);
	expect(rows.map((row) => row.fact)).toEqual([
		"opening",
		"delivering",
		"delivered",
		"delivery-final",
		"released",
	]);
});

test("what happens between looking and waiting is not slept through", async () => {
	const scene = await createSwapScene(database.pool);
	const durable = createInProcessDurable(() => Promise.reject(new Error("it waits")));
	const late = {
		...durable,
		step: async <T>(name: string, body: () => Promise<T>): Promise<T> => {
			if (name === "opening") {
				await scene.emit("Opened", originId);
				await markDue(database.pool, { chainId: originId, orderIds: [scene.orderId] });
			}
			// The block that it is about to wait for comes first.
			if (name === "deposited") await scene.moveHeads(1);
			return durable.step(name, body);
		},
	};
	const workflow = createSwapWorkflow(workflowOptions(database.pool, scene.clock));
	await expect(workflow(late, scene.uuid)).rejects.toThrow("it waits");
	expect(durable.steps.filter((step) => step !== "looked")).toEqual(["opening", "deposited", "delivering"]);
	await database.pool.query("update stock set reserved = 0; update pair_volume set in_flight = 0");
});

test("a workflow of a swap that has no row ends", async () => {
	const durable = createInProcessDurable(() => Promise.reject(new Error("it waits")));
	await createSwapWorkflow(workflowOptions(database.pool, { nowMs: Date.now() }))(durable, randomUUID());
	expect(durable.steps).toEqual(["looked"]);
});
