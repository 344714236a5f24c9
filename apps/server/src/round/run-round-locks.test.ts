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
	token,
} from "../../test/swap/swap-scene.ts";
import type { DatabasePool } from "../database/database.ts";
import { markOrders } from "../swap/due/mark-swaps.ts";
import { dropStrayWaits } from "../swap/due/write-waits.ts";
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

const filled = { delivered: "400", spentToken: token, spent: "400" };

function round(scene: SwapScene, changes: Partial<RoundOptions> = {}) {
	const log = pino({ level: "silent" });
	return createRound(roundOptions(database.pool, scene.clock, { log, ...changes }));
}

async function waitOf({ uuid }: SwapScene) {
	const { rows } = await database.pool.query(
		"select *, round(extract(epoch from due_at - now()))::int as due_in from waits where swap_id = $1",
		[uuid],
	);
	return rows[0];
}

/** Makes the database refuse jobs, with this error code, during `run`. */
async function refusing(
	{ code, only }: { code: string; only?: SwapScene },
	run: () => Promise<unknown>,
): Promise<void> {
	await database.owner.query(
		`create function refuse() returns trigger language plpgsql as $$ begin
			raise exception 'refused' using errcode = '${code}'; end $$;
		create trigger refuse before insert on jobs for each row
		${only ? `when (new.swap_id = '${only.uuid}')` : ""} execute function refuse()`,
	);
	try {
		await run();
	} finally {
		await database.owner.query("drop trigger refuse on jobs; drop function refuse");
	}
}

test("a locked row delays only the swaps that need it, and no follower", async () => {
	const [held, free] = [await createSwapScene(database.pool), await createSwapScene(database.pool)];
	// The delivery is final, so its reservation goes back to the inventory.
	await held.emit("Opened", originId);
	await held.emit("Filled", destinationId, filled);
	await held.moveHeads(5);
	const [holder, follower] = [await database.pool.connect(), await database.pool.connect()];
	try {
		await holder.query("begin; select from inventory for update");
		const running = round(held)();
		await someoneWaits(database.pool);
		await follower.query("begin; set local lock_timeout = 3000");
		await markOrders(follower, [free.orderId]);
		await follower.query("commit");
		await running;
		expect(await free.jobs()).toEqual({ open: "queued" });
		expect(await waitOf(free)).toMatchObject({ failed_rounds: 0, fact: "opening" });
		expect(await waitOf(held)).toMatchObject({ failed_rounds: 0, fact: null });
		expect((await waitOf(held)).due_in).toBeLessThanOrEqual(2);
	} finally {
		await holder.query("rollback");
		holder.release();
		follower.release();
	}
	await held.moveHeads(2);
	await round(held)();
	expect(await waitOf(held)).toMatchObject({ failed_rounds: 0, fact: "delivery-final" });
}, 20_000);

test("a wait is not deleted while its swap is being reopened", async () => {
	const scene = await createSwapScene(database.pool);
	const { pool } = database;
	await pool.query("update swaps set ended_at = now() where id = $1", [scene.uuid]);
	const undo = await pool.connect();
	try {
		await undo.query("begin");
		await undo.query("update swaps set ended_at = null where id = $1", [scene.uuid]);
		await undo.query("update waits set mark = mark + 1 where swap_id = $1", [scene.uuid]);
		const dropping = dropStrayWaits(pool, [scene.uuid]);
		await Promise.race([dropping, someoneWaits(pool)]);
		await undo.query("commit");
		await dropping;
	} finally {
		undo.release();
	}
	expect(await waitOf(scene)).toMatchObject({ mark: 1 });
});

test.each(["25P03", "42501", "42P01", "EPIPE"])(
	"error %s counts against no swap, and postpones none",
	async (code) => {
		const scenes = [await createSwapScene(database.pool), await createSwapScene(database.pool)] as const;
		const pool = interceptPool(database.pool, {
			before: async (name) => {
				if (name === "write-waits") throw Object.assign(new Error("failed"), { code });
			},
		});
		await expect(round(scenes[0], { pool })()).rejects.toMatchObject({ code });
		for (const scene of scenes) {
			const { failed_rounds, due_in } = await waitOf(scene);
			expect(failed_rounds).toBe(0);
			expect(due_in).toBeLessThanOrEqual(0);
		}
	},
);

test("an error with which the database refuses every swap counts against none of them", async () => {
	const scenes = [await createSwapScene(database.pool), await createSwapScene(database.pool)] as const;
	await refusing({ code: "23514" }, async () => {
		await expect(round(scenes[0])()).rejects.toMatchObject({ code: "23514" });
	});
	for (const scene of scenes) {
		const { failed_rounds, due_in } = await waitOf(scene);
		expect(failed_rounds).toBe(0);
		expect(due_in).toBeLessThanOrEqual(2);
	}
	await scenes[0].moveHeads(2);
	expect(await round(scenes[0])()).toMatchObject({ ran: 2 });
});

test.each(["cannot be read", "is refused"])(
	"a swap that %s is read once more if it was marked meanwhile",
	async (how) => {
		const scene = await createSwapScene(database.pool);
		if (how === "cannot be read") {
			await database.pool.query("update swaps set order_terms = '{}' where id = $1", [scene.uuid]);
		}
		let looks = 0;
		/** Number of the read to mark at: that of the batch, or the one of the swap alone after the batch failed. */
		const marked = how === "cannot be read" ? 1 : 2;
		const pool = interceptPool(database.pool, {
			after: async (name) => {
				if (name === "look-at-swaps" && ++looks === marked) await markOrders(database.pool, [scene.orderId]);
			},
		});
		await refusing({ code: "P0001", only: scene }, async () => {
			expect(await round(scene, { pool })()).toMatchObject({ ran: 2, hasMore: false });
		});
		expect(looks).toBe(2 * marked);
		const { mark, failed_rounds, due_in } = await waitOf(scene);
		expect({ mark, failed_rounds }).toEqual({ mark: 1, failed_rounds: 1 });
		expect(due_in).toBeGreaterThan(5);
	},
);

test("lanes are poked for the jobs that a round has committed, even if it fails afterwards", async () => {
	const [good, poison] = [await createSwapScene(database.pool), await createSwapScene(database.pool)];
	await database.pool.query("update swaps set order_terms = '{}' where id = $1", [poison.uuid]);
	const pool = new Proxy(database.pool, {
		get(target, key) {
			const value = Reflect.get(target, key);
			if (key !== "query") return typeof value === "function" ? value.bind(target) : value;
			return async (statement: unknown, values?: unknown[]) => {
				if (typeof statement === "string" && statement.includes("failed_rounds = "))
					throw new Error("connection lost");
				return (value as (...query: unknown[]) => unknown).call(target, statement, values);
			};
		},
	}) as DatabasePool;
	const options = roundOptions(pool, good.clock);
	await expect(createRound(options)()).rejects.toThrow("connection lost");
	expect(await good.jobs()).toEqual({ open: "queued" });
	expect(options.pokes).toContainEqual({ who: "lanes", chainId: originId });
});

test("a loss is booked before waits are locked, in the same order as by a follower", async () => {
	const scene = await createSwapScene(database.pool);
	await scene.emit("Filled", destinationId, filled);
	await scene.moveHeads(85);
	const names: string[] = [];
	const pool = interceptPool(database.pool, { before: async (name) => void names.push(name) });
	await round(scene, { pool })();
	expect(await waitOf(scene)).toBeUndefined();
	expect(names).toContain("post");
	expect(names.lastIndexOf("lock-jobs-and-waits")).toBeGreaterThan(names.indexOf("post"));
	expect(names.indexOf("lock-jobs-and-waits")).toBeLessThan(names.indexOf("post"));
});
