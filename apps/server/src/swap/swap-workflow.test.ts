import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInProcessDurable } from "../../test/in-process-durable.ts";
import {
	createSwapScene,
	destinationId,
	originId,
	type SwapScene,
	sameAsBefore,
	token,
	workflowOptions,
} from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { markDue } from "../store/due-signals.ts";
import { liftPauses, pauseChain } from "../store/pauses.ts";
import { readSwap } from "../store/read-swap.ts";
import type { DecisionDesk } from "./apply-decision.ts";
import { createSwapWorkflow, type SwapWorkflowOptions } from "./swap-workflow.ts";

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
async function run(
	scene: SwapScene,
	script: ((scene: SwapScene) => Promise<unknown>)[],
	changes: Partial<SwapWorkflowOptions> = {},
): Promise<string[]> {
	const rest = [...script];
	const durable = createInProcessDurable(async () => {
		const next = rest.shift();
		if (!next) throw new Error(`it waits for more, after ${durable.steps.join(", ")}`);
		await next(scene);
		await scene.moveHeads(1);
		return "signalled";
	});
	await createSwapWorkflow(workflowOptions(database.pool, scene.clock, changes))(durable, scene.uuid);
	expect(rest).toEqual([]);
	return durable.steps.filter((step) => step !== "looked");
}

async function reserved(): Promise<{ stock: bigint; volume: bigint }> {
	const { rows } = await database.pool.query(
		"select (select sum(reserved) from stock) as stock, (select sum(in_flight) from pair_volume) as volume",
	);
	return rows[0];
}

async function atRisk(swapId: string): Promise<number | null> {
	const { rowCount } = await database.pool.query("select from exposures where swap_id = $1", [swapId]);
	return rowCount;
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
			expect(await atRisk(uuid)).toBe(1);
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
	expect(await atRisk(scene.uuid)).toBe(0);
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

test("a late open reserves again, or is given up where nothing is left", async () => {
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

test("a late open is priced again: for the lesser of both prices, or not at all where that is below the minimum", async () => {
	const stop = () => Promise.reject(new Error("seen enough"));
	const open = ({ emit }: SwapScene) => emit("Opened", originId);
	const volumes = [{ chainId: destinationId, token, direction: "buy" as const, amount: 9n }];
	const worse: DecisionDesk = {
		...sameAsBefore,
		volumes: () => volumes,
		reprice: ({ feeCentibps }, inFlight) => {
			expect({ feeCentibps, inFlight }).toEqual({ feeCentibps: 1_250, inFlight: { sell: 0n, buy: 5n } });
			const amount = 390n;
			const delivery = { kind: "stock" as const, amount };
			return { delivery, output: amount, chainId: destinationId, token, amount, volumes };
		},
	};
	await database.pool.query("update pair_volume set in_flight = 5");
	const scene = await createSwapScene(database.pool, { isReserved: false });
	await expect(run(scene, [open, stop], { desk: worse })).rejects.toThrow("seen enough");
	const { rows } = await database.pool.query(
		"select payload from jobs where swap_id = $1 and kind = 'fill'",
		[scene.uuid],
	);
	expect(rows).toEqual([{ payload: { delivery: { kind: "stock", amount: "390" } } }]);
	expect((await readSwap(database.pool, scene.uuid))?.delivery).toEqual({ kind: "stock", amount: 390n });
	expect(await reserved()).toEqual({ stock: 390n, volume: 14n });

	const gone = await createSwapScene(database.pool, { isReserved: false });
	const moved: DecisionDesk = { ...sameAsBefore, reprice: () => undefined };
	await expect(run(gone, [open, stop], { desk: moved })).rejects.toThrow("seen enough");
	expect(await gone.jobs()).toMatchObject({ void: "queued" });
	expect(await readSwap(database.pool, gone.uuid)).toMatchObject({ givingUp: "PRICE_MOVED" });

	// Not knowing the price is no reason to give up.
	const unknown = await createSwapScene(database.pool, { isReserved: false });
	let isPriceable = false;
	const cold: DecisionDesk = { ...sameAsBefore, isPriceable: () => isPriceable };
	const warmUp = async () => {
		expect(await readSwap(database.pool, unknown.uuid)).toMatchObject({ givingUp: undefined });
		isPriceable = true;
	};
	await expect(run(unknown, [open, warmUp, stop], { desk: cold })).rejects.toThrow("seen enough");
	expect(await unknown.jobs()).toMatchObject({ fill: "queued" });
	await database.pool.query("update stock set reserved = 0; update pair_volume set in_flight = 0");
});

test("at the cap a fill waits for room", async () => {
	const scene = await createSwapScene(database.pool);
	const other = await createSwapScene(database.pool);
	await database.pool.query(
		`insert into exposures select id, order_id, $2, decode(substr(order_terms->>'attesterSet', 3), 'hex'), 96001, true
		from swaps where id = $1`,
		[other.uuid, originId],
	);
	const steps = run(scene, [
		({ emit }) => emit("Opened", originId),
		async ({ jobs, uuid }) => {
			expect(await jobs()).toEqual({ open: "queued" });
			const swap = await readSwap(database.pool, uuid);
			expect(swap).toMatchObject({ stage: "deposited", originTxHash: expect.anything() });
			const { rows } = await database.pool.query(
				"select fact from swap_events where swap_id = $1 order by seq desc limit 1",
				[uuid],
			);
			expect(rows).toEqual([{ fact: "exposure-cap" }]);
			await database.pool.query("delete from exposures where swap_id = $1", [other.uuid]);
		},
		async ({ jobs }) => {
			expect(await jobs()).toEqual({ open: "queued", fill: "queued" });
			throw new Error("seen enough");
		},
	]);
	await expect(steps).rejects.toThrow("seen enough");
	await database.pool.query(
		"truncate jobs, exposures; update stock set reserved = 0; update pair_volume set in_flight = 0",
	);
});

test.each([originId, destinationId])(
	"while a chain is paused because it dropped what was final, nothing is filled from or to it: chain %i",
	async (chainId) => {
		const scene = await createSwapScene(database.pool);
		const pause = { chainId, cause: "finality", reason: "a test", nowMs: 0 } as const;
		await pauseChain(database.pool, pause);
		const lift = () =>
			liftPauses(database.pool, { chainId, cause: "finality", by: "a test", reason: "a test", nowMs: 0 });
		const steps = run(scene, [
			({ emit }) => emit("Opened", originId),
			async ({ jobs }) => {
				expect(await jobs()).toEqual({ open: "queued" });
				await lift();
			},
			async ({ jobs }) => {
				expect(await jobs()).toEqual({ open: "queued", fill: "queued" });
				throw new Error("seen enough");
			},
		]);
		await expect(steps).rejects.toThrow("seen enough");
		await database.pool.query(
			"truncate jobs, exposures; update stock set reserved = 0; update pair_volume set in_flight = 0",
		);
	},
);

test("an input that was refunded although its output was delivered is an alarm", async () => {
	const scene = await createSwapScene(database.pool);
	const lines: { level: number; msg: string }[] = [];
	const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
	await run(
		scene,
		[
			({ emit }) => emit("Opened", originId),
			async ({ emit }) => {
				await emit("Filled", destinationId, { delivered: "400", spentToken: token, spent: "400" });
				await emit("Refunded", originId, { paid: true });
			},
			pass,
			pass,
		],
		{ log },
	);
	const errors = lines.filter(({ level }) => level >= 50);
	expect(new Set(errors.map(({ msg }) => msg))).toEqual(new Set(["delivered-and-refunded"]));
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

test("lanes are told again of a job that nobody took, on a chain without blocks too", async () => {
	const scene = await createSwapScene(database.pool);
	let waits = 0;
	const durable = createInProcessDurable(async () => {
		if (++waits > 2) throw new Error("seen enough");
		return "timeout";
	});
	const workflow = createSwapWorkflow(workflowOptions(database.pool, scene.clock));
	await expect(workflow(durable, scene.uuid)).rejects.toThrow("seen enough");
	expect(durable.pokes).toEqual(Array(3).fill({ object: "lane", key: String(originId) }));
	await database.pool.query("update stock set reserved = 0; update pair_volume set in_flight = 0");
});

test("a workflow of a swap that has no row ends", async () => {
	const durable = createInProcessDurable(() => Promise.reject(new Error("it waits")));
	await createSwapWorkflow(workflowOptions(database.pool, { nowMs: Date.now() }))(durable, randomUUID());
	expect(durable.steps).toEqual(["looked"]);
});
