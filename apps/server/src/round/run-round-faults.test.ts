import { pino } from "pino";
import { hexToBytes } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { interceptPool } from "../../test/service/intercept-pool.ts";
import { someoneWaits } from "../../test/service/someone-waits.ts";
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
import { lockExposures, markDepositsFinal } from "../money/exposure.ts";
import { markAllDue, markOrders } from "../swap/due/mark-swaps.ts";
import { createRound, type RoundOptions } from "./run-round.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	const { pool } = database;
	await pool.query("insert into inventory values ($1, $2, 100000, 100000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
});
afterEach(() =>
	database.owner.query(
		`truncate jobs, exposures, waits, reservations, chain_events; update inventory set reserved = 0;
		update pair_volume set in_flight = 0`,
	),
);
afterAll(() => database.drop());

const silent = pino({ level: "silent" });

function round(scene: SwapScene, changes: Partial<RoundOptions> = {}) {
	return createRound(roundOptions(database.pool, scene.clock, { log: silent, ...changes }));
}

async function factsOf({ uuid }: SwapScene): Promise<string[]> {
	const { rows } = await database.pool.query("select fact from swap_events where swap_id = $1 order by seq", [
		uuid,
	]);
	return rows.map((row) => row.fact);
}

async function waitOf({ uuid }: SwapScene) {
	const { rows } = await database.pool.query(
		"select *, round(extract(epoch from due_at - now()))::int as due_in from waits where swap_id = $1",
		[uuid],
	);
	return rows[0];
}

const makeDue = ({ uuid }: SwapScene) =>
	database.pool.query("update waits set due_at = now() where swap_id = $1", [uuid]);

/** Does something once, right after a statement of that name. */
function once(name: string, run: () => Promise<unknown>) {
	let isDone = false;
	return interceptPool(database.pool, {
		after: async (called) => {
			if (called !== name || isDone) return;
			isDone = true;
			await run();
		},
	});
}

test("a swap whose event arrives between reading and writing stays due", async () => {
	const scene = await createSwapScene(database.pool);
	const pool = once("look-at-swaps", async () => {
		await scene.emit("Opened", originId);
		await markOrders(database.pool, [scene.orderId]);
	});
	expect(await round(scene, { pool })()).toMatchObject({ ran: 2 });
	expect(await factsOf(scene)).toEqual(["opening", "deposited"]);
});

test("a mark that is uncommitted when the swap is read is not lost", async () => {
	const scene = await createSwapScene(database.pool);
	const follower = await database.pool.connect();
	let marking: Promise<unknown> | undefined;
	const pool = once("look-at-swaps", async () => {
		await follower.query("begin");
		await follower.query(
			`insert into chain_events values ($1, $2, 1, '\\x00', '\\x01', '\\x00', $3, 'Opened', '{}')`,
			[originId, scene.clock.number, hexToBytes(scene.orderId)],
		);
		await markOrders(follower, [scene.orderId]);
		// The round waits for the row that the follower holds.
		marking = new Promise((resolve) => setTimeout(resolve, 100)).then(() => follower.query("commit"));
	});
	try {
		expect(await round(scene, { pool })()).toMatchObject({ ran: 2 });
		await marking;
	} finally {
		follower.release();
	}
	expect(await factsOf(scene)).toEqual(["opening", "deposited"]);
});

test("a block that arrives while a swap starts to wait for it is not missed", async () => {
	const scene = await createSwapScene(database.pool);
	await round(scene)();
	await scene.emit("Opened", originId);
	await makeDue(scene);
	const pool = once("look-at-swaps", () => scene.moveHeads(1));
	await round(scene, { pool })();
	expect(await factsOf(scene)).toEqual(["opening", "deposited", "delivering"]);
});

test("a swap is locked before its facts are read, and these are read in one statement", async () => {
	const scene = await createSwapScene(database.pool);
	const names: string[] = [];
	const pool = interceptPool(database.pool, { before: async (name) => void names.push(name) });
	await round(scene, { pool })();
	expect(names.slice(0, 3)).toEqual(["begin", "lock-swaps", "look-at-swaps"]);
	expect(names.filter((name) => name.startsWith("look"))).toHaveLength(1);
});

test("a swap that one round has locked is skipped by another, and processed once", async () => {
	const scene = await createSwapScene(database.pool);
	let other: unknown;
	const pool = once("look-at-swaps", async () => {
		other = await round(scene)();
	});
	expect(await round(scene, { pool })()).toEqual({ ran: 1, hasMore: false });
	expect(other).toEqual({ ran: 0, hasMore: false });
	expect(await factsOf(scene)).toEqual(["opening"]);
});

test("a round whose process dies before it commits has no effect", async () => {
	const scene = await createSwapScene(database.pool);
	const pool = interceptPool(database.pool, {
		before: async (name) => {
			if (name === "commit") throw Object.assign(new Error("terminating connection"), { code: "57P01" });
		},
	});
	await expect(round(scene, { pool })()).rejects.toThrow("terminating connection");
	expect(await scene.jobs()).toEqual({});
	expect(await waitOf(scene)).toMatchObject({ failed_rounds: 0, fact: null });
	expect(await round(scene)()).toMatchObject({ ran: 1 });
	expect(await scene.jobs()).toEqual({ open: "queued" });
});

test("concurrent rounds process each swap once, and all of them", async () => {
	const scenes: SwapScene[] = [];
	for (let i = 0; i < 12; i++) scenes.push(await createSwapScene(database.pool));
	const [scene] = scenes as [SwapScene];
	const runs = await Promise.all(Array.from({ length: 4 }, () => round(scene, { batchSize: 3 })()));
	expect(runs.reduce((sum, { ran }) => sum + ran, 0)).toBe(12);
	for (const one of scenes) expect(await factsOf(one)).toEqual(["opening"]);
});

test("a swap that cannot be read blocks no other, and is retried less and less often", async () => {
	const scenes = [
		await createSwapScene(database.pool),
		await createSwapScene(database.pool),
		await createSwapScene(database.pool),
	] as const;
	const [first, poison, last] = scenes;
	await database.pool.query("update swaps set order_terms = '{}' where id = $1", [poison.uuid]);
	const lines: { level: number; swapId?: string }[] = [];
	const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
	await round(first, { log })();
	for (const one of [first, last]) expect(await one.jobs()).toEqual({ open: "queued" });
	expect(await waitOf(poison)).toMatchObject({ failed_rounds: 1, due_in: 10 });
	expect(lines.filter(({ level }) => level >= 50)).toMatchObject([{ swapId: poison.uuid }]);
	for (const due_in of [20, 40, 80]) {
		await makeDue(poison);
		await round(first)();
		expect(await waitOf(poison)).toMatchObject({ due_in });
	}
	await database.pool.query(
		"update swaps set order_terms = (select order_terms from swaps where id = $2) where id = $1",
		[poison.uuid, first.uuid],
	);
	await makeDue(poison);
	await round(first)();
	expect(await waitOf(poison)).toMatchObject({ failed_rounds: 0 });
});

test("if the database refuses the writes for one swap, the others of the batch are processed one by one", async () => {
	const scenes = [
		await createSwapScene(database.pool),
		await createSwapScene(database.pool),
		await createSwapScene(database.pool),
	] as const;
	const [first, poison, last] = scenes;
	await database.owner.query(
		`create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
		create trigger refuse_one before insert on jobs for each row when (new.swap_id = '${poison.uuid}')
		execute function refuse_one()`,
	);
	try {
		expect(await round(first)()).toEqual({ ran: 3, hasMore: false });
	} finally {
		await database.owner.query("drop trigger refuse_one on jobs; drop function refuse_one");
	}
	for (const one of [first, last]) {
		expect(await one.jobs()).toEqual({ open: "queued" });
		expect(await waitOf(one)).toMatchObject({ failed_rounds: 0, fact: "opening" });
	}
	expect(await poison.jobs()).toEqual({});
	expect(await waitOf(poison)).toMatchObject({ failed_rounds: 1, fact: null });
});

test("a swap whose statements time out is postponed, and blocks no other of its batch", async () => {
	const scenes: SwapScene[] = [];
	for (let i = 0; i < 4; i++) scenes.push(await createSwapScene(database.pool));
	const [first, slow, ...others] = scenes as [SwapScene, SwapScene, ...SwapScene[]];
	await database.owner.query(
		`create function wait_long() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$;
		create trigger wait_long before insert on jobs for each row when (new.swap_id = '${slow.uuid}')
		execute function wait_long()`,
	);
	const limits: unknown[] = [];
	const pool = interceptPool(database.pool, {
		after: async (name, client) => {
			if (name !== "lock-swaps") return;
			limits.push(await client.query("select current_setting('statement_timeout') as ended_after"));
			await client.query("set local statement_timeout = 200");
		},
	});
	try {
		expect(await round(first, { pool })()).toEqual({ ran: 4, hasMore: false });
	} finally {
		await database.owner.query("drop trigger wait_long on jobs; drop function wait_long");
	}
	// The database ends it before the driver stops waiting, because an abandoned statement would go on holding the batch.
	for (const limit of limits) expect(limit).toMatchObject({ rows: [{ ended_after: "10s" }] });
	for (const one of [first, ...others]) expect(await one.jobs()).toEqual({ open: "queued" });
	expect(await slow.jobs()).toEqual({});
	expect(await waitOf(slow)).toMatchObject({ failed_rounds: 1, due_in: 10 });
});

test("if every swap times out a run ends soon, and the next run starts with other swaps", async () => {
	const scenes: SwapScene[] = [];
	for (let i = 0; i < 5; i++) scenes.push(await createSwapScene(database.pool));
	const [first] = scenes as [SwapScene];
	let looks = 0;
	const pool = interceptPool(database.pool, {
		before: async (name) => {
			if (name !== "look-at-swaps") return;
			looks++;
			throw Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" });
		},
	});
	await expect(round(first, { pool })()).rejects.toThrow("statement timeout");
	expect(looks).toBe(3);
	const { rows } = await database.pool.query("select from waits where due_at <= now()");
	expect(rows).toHaveLength(3);
	expect(await round(first)()).toMatchObject({ ran: 3 });
});

test("a deadlock is retried and counts against no swap", async () => {
	const scene = await createSwapScene(database.pool);
	let deadlocks = 0;
	const pool = interceptPool(database.pool, {
		before: async (name) => {
			if (name === "write-waits" && deadlocks++ < 2) {
				throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
			}
		},
	});
	expect(await round(scene, { pool })()).toEqual({ ran: 1, hasMore: false });
	expect(await waitOf(scene)).toMatchObject({ failed_rounds: 0, fact: "opening" });
});

test("the exposure of all fills of a batch is counted together, with the value already at risk", async () => {
	const scenes: SwapScene[] = [];
	// The cap is 1,000 USD.
	for (let i = 0; i < 4; i++) scenes.push(await createSwapScene(database.pool, { valueUsdCents: 30_000 }));
	const [scene] = scenes as [SwapScene];
	await round(scene)();
	for (const one of scenes) await one.emit("Opened", originId);
	for (const one of scenes) await makeDue(one);
	await scene.moveHeads(1);
	await round(scene)();
	const jobs = await Promise.all(scenes.map((one) => one.jobs()));
	expect(jobs.filter(({ fill }) => fill === "queued")).toHaveLength(3);
	const { rows } = await database.pool.query(
		"select swap_id, fact, due_at <= now() + interval '2 s' as is_soon from waits where fact = 'exposure-cap'",
	);
	expect(rows).toMatchObject([{ is_soon: true }]);
	const held = scenes.find(({ uuid }) => uuid === rows[0].swap_id) as SwapScene;
	expect((await database.pool.query("select stage from swaps where id = $1", [held.uuid])).rows).toEqual([
		{ stage: "deposited" },
	]);
	expect((await database.pool.query("select from exposures")).rowCount).toBe(3);
	// The first filled swap is released, which makes room.
	await database.pool.query("delete from exposures where swap_id = (select swap_id from exposures limit 1)");
	await scene.moveHeads(3);
	await round(scene)();
	expect(await held.jobs()).toMatchObject({ fill: "queued" });
});

test("a deposit that becomes final while its fill is queued counts as final from the next round on", async () => {
	const scene = await createSwapScene(database.pool);
	await round(scene)();
	await scene.emit("Opened", originId);
	const deposit = scene.clock.number;
	await scene.moveHeads(1);
	await makeDue(scene);
	const pool = once("look-at-swaps", async () => {
		await scene.moveHeads(3);
		await markDepositsFinal(database.pool, { chainId: originId, after: deposit - 1, upTo: deposit });
	});
	await round(scene, { pool })();
	const isFinal = async () => (await database.pool.query("select is_final from exposures")).rows;
	expect(await isFinal()).toEqual([{ is_final: false }]);
	await makeDue(scene);
	await round(scene)();
	expect(await isFinal()).toEqual([{ is_final: true }]);
});

test("nothing is filled on a chain that is paused for broken finality, even if the pause comes while a round waits for a lock", async () => {
	const cross = await createSwapScene(database.pool);
	const within = await createSwapScene(database.pool, { isCrossChain: false });
	await round(cross)();
	await cross.emit("Opened", originId);
	await within.emit("Opened", destinationId);
	await cross.moveHeads(1);
	const other = await database.pool.connect();
	try {
		await other.query("begin");
		await lockExposures(other, { originIds: [originId], accountIds: [], chainIds: [] });
		await makeDue(cross);
		const running = round(cross)();
		await someoneWaits(database.owner);
		await database.owner.query(
			"insert into pauses (chain_id, cause, reason, set_by, since) values ($1, 'finality', 'test', 'test', now())",
			[destinationId],
		);
		await other.query("commit");
		await running;
	} finally {
		other.release();
	}
	await makeDue(within);
	await round(cross)();
	for (const one of [cross, within]) {
		expect(await one.jobs()).toEqual({ open: "queued" });
		expect(await waitOf(one)).toMatchObject({ fact: "finality-broken" });
	}
	await database.owner.query(
		"update pauses set lifted_at = now(), lifted_by = 'test', lifted_reason = 'test'",
	);
	for (const one of [cross, within]) await makeDue(one);
	await round(cross)();
	for (const one of [cross, within]) expect(await one.jobs()).toMatchObject({ fill: "queued" });
});

test("inventory that two late opens of one batch need is given to only one of them", async () => {
	const scenes = [
		await createSwapScene(database.pool, { isReserved: false }),
		await createSwapScene(database.pool, { isReserved: false }),
	] as const;
	const [scene] = scenes;
	await database.pool.query("update inventory set balance = 700");
	for (const one of scenes) await one.emit("Opened", originId);
	await scene.moveHeads(1);
	await round(scene)();
	const jobs = await Promise.all(scenes.map((one) => one.jobs()));
	expect(jobs.map((one) => Object.keys(one)[0]).toSorted()).toEqual(["fill", "void"]);
	expect((await database.pool.query("select reserved from inventory")).rows).toEqual([{ reserved: 400n }]);
	await database.pool.query("update inventory set balance = 100000");
});

test("late opens without a price are held in one transaction, regardless of their number", async () => {
	const scenes: SwapScene[] = [];
	for (let i = 0; i < 60; i++) scenes.push(await createSwapScene(database.pool, { isReserved: false }));
	const [scene] = scenes as [SwapScene];
	for (const one of scenes) await one.emit("Opened", originId);
	await scene.moveHeads(1);
	const names: string[] = [];
	const pool = interceptPool(database.pool, { before: async (name) => void names.push(name) });
	const desk = { ...sameAsBefore, isPriceable: () => false };
	expect(await round(scene, { pool, desk })()).toEqual({ ran: 60, hasMore: false });
	expect(names.filter((name) => name === "begin")).toHaveLength(1);
	const { rows } = await database.pool.query("select distinct fact from waits");
	expect(rows).toEqual([{ fact: "price-unknown" }]);
});

test("a wait without a swap, or of an ended swap, is deleted and delays no other", async () => {
	const scene = await createSwapScene(database.pool);
	const ended = await createSwapScene(database.pool);
	await database.pool.query("update swaps set ended_at = now() where id = $1", [ended.uuid]);
	await database.pool.query(
		"insert into waits (swap_id, order_id, due_at) select gen_random_uuid(), '', '-infinity' from generate_series(1, 5)",
	);
	expect(await round(scene, { batchSize: 2 })()).toEqual({ ran: 1, hasMore: false });
	expect((await database.pool.query("select swap_id from waits")).rows).toEqual([{ swap_id: scene.uuid }]);
});

test("after a restore every unfinished swap is due, even one without a wait", async () => {
	const scenes = [await createSwapScene(database.pool), await createSwapScene(database.pool)] as const;
	const [scene, forgotten] = scenes;
	await round(scene)();
	await database.pool.query("delete from waits where swap_id = $1", [forgotten.uuid]);
	await database.pool.query("update swaps set ended_at = now() where id <> all($1)", [
		scenes.map(({ uuid }) => uuid),
	]);
	expect(await round(scene)()).toMatchObject({ ran: 0 });
	expect(await markAllDue(database.pool)).toBe(2);
	expect(await round(scene)()).toMatchObject({ ran: 2 });
});

test("a swap on a chain that is not followed or not configured waits, with that fact recorded", async () => {
	const scene = await createSwapScene(database.pool);
	const { config } = roundOptions(database.pool, scene.clock);
	await round(scene, { config: { ...config, chains: [] } })();
	expect(await waitOf(scene)).toMatchObject({ fact: "chain-unconfigured", due_in: 10 });
	await database.owner.query("delete from chain_heads");
	await makeDue(scene);
	await round(scene)();
	expect(await waitOf(scene)).toMatchObject({ fact: "chain-unfollowed", due_in: 10 });
	expect(await scene.jobs()).toEqual({});
	await scene.moveHeads(0);
});
