import { packDeadlines } from "@geoswap/protocol";
import { pino } from "pino";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import {
	createSwapScene,
	destinationId,
	originId,
	roundOptions,
	type SwapScene,
	sameAsBefore,
	token,
} from "../../test/swap/swap-scene.ts";
import { markOrders } from "../swap/due/mark-swaps.ts";
import { liftPauses, pauseChain } from "../swap/pause/pauses.ts";
import { readSwap } from "../swap/record/read-swap.ts";
import { createRound, type RoundOptions } from "./run-round.ts";
import type { DecisionDesk } from "./take-holds.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	const { pool } = database;
	await pool.query(
		"insert into inventory values ($1, $2, 1000, 1000, 0, 1), ($1, '\\xbb', 1000, 1000, 0, 1)",
		[destinationId, hexToBytes(token)],
	);
	await pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
});
afterAll(() => database.drop());

/** Runs rounds. After each, the next step of the script is done and a second passes. Returns the facts in order. */
async function run(
	scene: SwapScene,
	script: ((scene: SwapScene) => Promise<unknown>)[],
	changes: Partial<RoundOptions> = {},
): Promise<string[]> {
	const runRound = createRound(roundOptions(database.pool, scene.clock, changes));
	await runRound();
	for (const next of script) {
		await next(scene);
		await markOrders(database.pool, [scene.orderId]);
		await scene.moveHeads(1);
		await runRound();
	}
	return factsOf(scene.uuid);
}

async function factsOf(swapId: string): Promise<string[]> {
	const { rows } = await database.pool.query("select fact from swap_events where swap_id = $1 order by seq", [
		swapId,
	]);
	return rows.map((row) => row.fact);
}

async function reserved(): Promise<{ inventory: bigint; volume: bigint }> {
	const { rows } = await database.pool.query(
		"select (select sum(reserved) from inventory) as inventory, (select sum(in_flight) from pair_volume) as volume",
	);
	return rows[0];
}

/** Clears the tables, because swaps that a test leaves unfinished must not come up in the next one. */
async function clear(): Promise<void> {
	await database.owner.query(
		"truncate jobs, exposures, waits, reservations; update inventory set reserved = 0; update pair_volume set in_flight = 0",
	);
}

async function atRisk(swapId: string): Promise<number | null> {
	const { rowCount } = await database.pool.query("select from exposures where swap_id = $1", [swapId]);
	return rowCount;
}

const pass = async (): Promise<void> => {};

test("a swap is settled at depth, and ends once its release is final, with nothing reserved", async () => {
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
			expect(await reserved()).toEqual({ inventory: 400n, volume: 7n });
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
	expect(steps).toEqual(["opening", "delivering", "delivered", "delivery-final", "released"]);
	const swap = await readSwap(database.pool, scene.uuid);
	expect(swap).toMatchObject({ status: "settled", deliveredAmount: 400n });
	expect(swap?.endedAt).toBeDefined();
	expect(swap?.originTxHash).toBeDefined();
	expect(swap?.deliveryTxHash).toBeDefined();
	expect(await scene.jobs()).toEqual({});
	expect(await reserved()).toEqual({ inventory: 0n, volume: 0n });
	expect(await atRisk(scene.uuid)).toBe(0);
	expect((await database.pool.query("select from waits where swap_id = $1", [scene.uuid])).rowCount).toBe(0);
});

test("a refused fill is voided and then refunded, and the reason is recorded", async () => {
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
			expect(await reserved()).toEqual({ inventory: 0n, volume: 0n });
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

test("a swap whose fill the deny list refused is never filled, and is refunded with that reason", async () => {
	const scene = await createSwapScene(database.pool);
	const steps = await run(scene, [
		({ emit }) => emit("Opened", originId),
		({ setJob }) => setJob("fill", "refused", "denied"),
		async ({ uuid, jobs, emit }) => {
			// The list may serve the recipient again by now, but the order is being closed.
			expect(await jobs()).toMatchObject({ fill: "refused", void: "queued" });
			expect(await readSwap(database.pool, uuid)).toMatchObject({ stage: "refunding", givingUp: "DENIED" });
			await emit("Voided", destinationId);
		},
		pass,
		pass,
		async ({ jobs, emit }) => {
			expect(await jobs()).toMatchObject({ refund: "unattested" });
			await emit("Refunded", originId, { paid: true });
		},
		pass,
		pass,
	]);
	expect(steps).not.toContain("delivered");
	const swap = await readSwap(database.pool, scene.uuid);
	expect(swap).toMatchObject({ status: "refunded", failure: { code: "DENIED" } });
	// No other swap of the account is limited by it.
	const { rows } = await database.owner.query("select from account_refusals where swap_id = $1", [
		scene.uuid,
	]);
	expect(rows).toEqual([]);
});

test("an order that is never opened fails only once that is final, and its reservation lapses before", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, [
		({ moveHeads }) => moveHeads(60),
		async ({ moveHeads }) => {
			expect(await reserved()).toEqual({ inventory: 0n, volume: 0n });
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

test("a late open reserves again, or is given up if there is no inventory", async () => {
	const scene = await createSwapScene(database.pool, { isReserved: false });
	const poor = await createSwapScene(database.pool, { isReserved: false });
	const stop = () => Promise.reject(new Error("seen enough"));
	await expect(run(scene, [({ emit }) => emit("Opened", originId), stop])).rejects.toThrow("seen enough");
	expect(await scene.jobs()).toMatchObject({ fill: "queued" });
	expect(await reserved()).toEqual({ inventory: 400n, volume: 0n });

	await database.pool.query("update inventory set balance = 700");
	await expect(run(poor, [({ emit }) => emit("Opened", originId), stop])).rejects.toThrow("seen enough");
	expect(await poor.jobs()).toMatchObject({ void: "queued" });
	expect(await readSwap(database.pool, poor.uuid)).toMatchObject({ givingUp: "NO_LIQUIDITY" });
	expect(await reserved()).toEqual({ inventory: 400n, volume: 0n });
	await database.pool.query("update inventory set balance = 1000");
	await clear();
});

test("a late open is repriced at the lower of both prices, or is given up below the minimum", async () => {
	const stop = () => Promise.reject(new Error("seen enough"));
	const open = ({ emit }: SwapScene) => emit("Opened", originId);
	const volumes = [{ chainId: destinationId, token, direction: "buy" as const, amount: 9n }];
	const worse: DecisionDesk = {
		...sameAsBefore,
		volumes: () => volumes,
		reprice: ({ feeMillibps }, inFlight) => {
			expect({ feeMillibps, inFlight }).toEqual({ feeMillibps: 12_500, inFlight: { sell: 0n, buy: 5n } });
			const amount = 390n;
			const delivery = { kind: "inventory" as const, amount };
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
	expect(rows).toEqual([{ payload: { delivery: { kind: "inventory", amount: "390" } } }]);
	expect((await readSwap(database.pool, scene.uuid))?.delivery).toEqual({ kind: "inventory", amount: 390n });
	expect(await reserved()).toEqual({ inventory: 390n, volume: 14n });

	const gone = await createSwapScene(database.pool, { isReserved: false });
	const moved: DecisionDesk = { ...sameAsBefore, reprice: () => undefined };
	await expect(run(gone, [open, stop], { desk: moved })).rejects.toThrow("seen enough");
	expect(await gone.jobs()).toMatchObject({ void: "queued" });
	expect(await readSwap(database.pool, gone.uuid)).toMatchObject({ givingUp: "PRICE_MOVED" });

	// An unknown price is no reason to give up.
	const unknown = await createSwapScene(database.pool, { isReserved: false });
	let isPriceable = false;
	const cold: DecisionDesk = { ...sameAsBefore, isPriceable: () => isPriceable };
	const warmUp = async () => {
		expect(await readSwap(database.pool, unknown.uuid)).toMatchObject({ givingUp: undefined });
		isPriceable = true;
	};
	await expect(run(unknown, [open, warmUp, stop], { desk: cold })).rejects.toThrow("seen enough");
	expect(await unknown.jobs()).toMatchObject({ fill: "queued" });
	await clear();
});

test("a fill waits while its exposure would exceed the cap", async () => {
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
	await clear();
});

test("a fill waits while its account's share of the cap is in use, and another account's swap is delivered", async () => {
	const greedy = await createSwapScene(database.pool);
	const other = await createSwapScene(database.pool);
	const delivered = await createSwapScene(database.pool);
	await database.owner.query(
		"update swaps set account_id = (select account_id from swaps where id = $2) where id = $1",
		[delivered.uuid, greedy.uuid],
	);
	await database.owner.query(
		`insert into exposures select id, order_id, $2, decode(substr(order_terms->>'attesterSet', 3), 'hex'), 46001, true,
			account_id
		from swaps where id = $1`,
		[delivered.uuid, originId],
	);
	await database.owner.query("delete from waits where swap_id = $1", [delivered.uuid]);
	const { config, ...options } = roundOptions(database.pool, greedy.clock);
	const limits = { ...config.limits, accountShareOfCaps: 0.5 };
	const round = createRound({ ...options, config: { ...config, limits } });
	await round();
	for (const { emit } of [greedy, other]) await emit("Opened", originId);
	await greedy.moveHeads(5);
	await database.owner.query("update waits set due_at = now()");
	await round();
	expect(await other.jobs()).toMatchObject({ fill: "queued" });
	expect(await greedy.jobs()).toEqual({ open: "queued" });
	const { rows } = await database.pool.query("select fact from waits where swap_id = $1", [greedy.uuid]);
	expect(rows).toEqual([{ fact: "exposure-cap" }]);
	// The other account's exposure does not count, and the released one is gone.
	await database.owner.query("delete from exposures where swap_id = $1", [delivered.uuid]);
	await database.owner.query("update waits set due_at = now()");
	await round();
	expect(await greedy.jobs()).toMatchObject({ fill: "queued" });
	await clear();
});

test.each([originId, destinationId])(
	"while a chain is paused for broken finality, nothing is filled from or to it (chain %i)",
	async (chainId) => {
		const scene = await createSwapScene(database.pool);
		const pause = { chainId, cause: "finality", reason: "a test", nowMs: 0 } as const;
		await pauseChain(database.pool, pause);
		const lift = () =>
			liftPauses(database.owner, { chainId, cause: "finality", by: "a test", reason: "a test", nowMs: 0 });
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
		await clear();
	},
);

test("an input that was refunded although its output was delivered is logged as an error", async () => {
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

test("lanes are poked once per chain, after their jobs are committed", async () => {
	const scenes = [await createSwapScene(database.pool), await createSwapScene(database.pool)];
	const [scene] = scenes as [SwapScene, SwapScene];
	const queued: Record<string, string>[] = [];
	const options = roundOptions(database.pool, scene.clock, {
		poke: async (pokes) => {
			expect(pokes).toEqual([{ who: "lanes", chainId: originId }]);
			for (const { jobs } of scenes) queued.push(await jobs());
		},
	});
	await createRound(options)();
	expect(queued).toEqual([{ open: "queued" }, { open: "queued" }]);
	await clear();
});

test("a round that finds only a newly submitted op pokes its lanes", async () => {
	const scene = await createSwapScene(database.pool);
	const options = roundOptions(database.pool, scene.clock);
	const runRound = createRound(options);
	await runRound();
	expect(await runRound()).toEqual({ ran: 0, hasMore: false });
	expect(options.pokes).toEqual(Array(2).fill({ who: "lanes", chainId: originId }));
	await clear();
});

test("a refused job is retried after a pause, measured from the last update of its row", async () => {
	const scene = await createSwapScene(database.pool);
	const refuse = async ({ setJob, jobs }: SwapScene) => {
		expect(await jobs()).toMatchObject({ void: "queued" });
		await setJob("void", "refused");
		await database.pool.query("update jobs set updated_at = now() where swap_id = $1", [scene.uuid]);
	};
	const later = (seconds: number) =>
		database.pool.query(
			"update jobs set updated_at = updated_at - $2 * interval '1 second' where swap_id = $1",
			[scene.uuid, seconds],
		);
	await run(scene, [
		({ emit }) => emit("Opened", originId),
		({ setJob }) => setJob("fill", "refused", "price"),
	]);
	await run(scene, [refuse, () => later(8)]);
	expect(await scene.jobs()).toMatchObject({ void: "refused" });
	await run(scene, [() => later(2)]);
	expect(await scene.jobs()).toMatchObject({ void: "queued" });
	await clear();
});

test("an idle swap is read less and less often, at least every ten minutes, at times that all idle swaps share", async () => {
	const scene = await createSwapScene(database.pool);
	await run(scene, [({ emit, setJob }) => setJob("open", "done").then(() => emit("Opened", originId))]);
	const dueIn = async () => {
		const { rows } = await database.pool.query(
			`select extract(epoch from due_at - now())::float as seconds, extract(epoch from due_at)::int % 30 as beside
			from waits where swap_id = $1`,
			[scene.uuid],
		);
		return rows[0];
	};
	const far = { nowMs: scene.clock.nowMs };
	// The fill deadline is a known moment, and would come first.
	await database.pool.query(
		`update swaps set order_terms = jsonb_set(order_terms, '{deadlines}', to_jsonb($2::text)) where id = $1`,
		[
			scene.uuid,
			String(
				packDeadlines({
					openDeadline: 9_999_999_997n,
					fillDeadline: 9_999_999_998n,
					refundAfter: 9_999_999_999n,
				}),
			),
		],
	);
	for (const patience of [120, 240, 480, 600, 600, 600, 600]) {
		await database.pool.query("update waits set due_at = now() where swap_id = $1", [scene.uuid]);
		const startedAt = performance.now();
		await createRound(roundOptions(database.pool, far))();
		const { seconds, beside } = await dueIn();
		expect(beside).toBe(0);
		expect(seconds).toBeLessThanOrEqual(patience + 30);
		expect(seconds + (performance.now() - startedAt) / 1_000).toBeGreaterThan(patience);
	}
	await clear();
});
