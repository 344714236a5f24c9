import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { someoneWaits } from "../../test/someone-waits.ts";
import {
	createSwapScene,
	destinationId,
	type SwapScene,
	sameAsBefore,
	token,
} from "../../test/swap-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { inTransaction } from "../store/database.ts";
import { applyDecision } from "./apply-decision.ts";
import type { Decision } from "./decision.ts";

let database: TestDatabase;
let scene: SwapScene;
beforeAll(async () => {
	database = await createTestDatabase();
	await database.pool.query("insert into stock values ($1, $2, 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await database.pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [
		destinationId,
		hexToBytes(token),
	]);
});
beforeEach(async () => {
	await database.pool.query("update stock set reserved = 0; update pair_volume set in_flight = 0");
	scene = await createSwapScene(database.pool);
});
afterAll(() => database.drop());

function apply(signalId: string, decision: Partial<Decision>) {
	return applyDecision(database.pool, {
		swapId: scene.uuid,
		signalId,
		decision: { fact: "test", actions: [], wait: {}, timeoutMs: 1, pauseMs: 0, isEnd: false, ...decision },
		desk: sameAsBefore,
		nowMs: scene.clock.nowMs,
	});
}

/** As a look does. */
function look(signalId: string) {
	return database.pool.query(
		`insert into waits (swap_id, order_id, signal_id) values ($1, $2, $3)
		on conflict (swap_id) do update set signal_id = excluded.signal_id`,
		[scene.uuid, hexToBytes(scene.orderId), signalId],
	);
}

async function reserved(): Promise<bigint | undefined> {
	const { rows } = await database.pool.query<{ reserved: bigint }>("select reserved from stock");
	return rows[0]?.reserved;
}

const open: Decision["actions"] = [{ do: "queue", kind: "open", again: false }];

test("what was decided before the swap looked again is not done any more", async () => {
	await look("first");
	await look("second");
	const nothing = { pokes: [], isDue: true, isNews: false, moves: [] };
	expect(await apply("first", { actions: open })).toEqual(nothing);
	expect(await apply("first", { isEnd: true })).toEqual(nothing);
	expect(await scene.jobs()).toEqual({});
	expect(await reserved()).toBe(400n);
	expect((await apply("second", { actions: open })).pokes).toHaveLength(1);
	expect(await scene.jobs()).toEqual({ open: "queued" });
});

test.each(["release", "refund"] as const)(
	"a %s waits for attesters where they decide, and for a lane alone where they do not",
	async (kind) => {
		for (const [signalId, attested, state, who] of [
			["first", true, "unattested", "attesters"],
			["second", false, "queued", "lanes"],
		] as const) {
			await look(signalId);
			const applied = await apply(signalId, { actions: [{ do: "queue", kind, attested, again: true }] });
			expect(applied.pokes).toMatchObject([{ who }]);
			expect(await scene.jobs()).toEqual({ [kind]: state });
		}
	},
);

test("a swap that has ended keeps nothing reserved, and its end can be repeated", async () => {
	await look("last");
	for (const isNews of [true, false])
		expect(await apply("last", { isEnd: true })).toMatchObject({
			pokes: [],
			isDue: false,
			isNews,
			moves: [],
		});
	expect(await reserved()).toBe(0n);
});

test("a swap that waits for a lane's job keeps nobody from the stock", async () => {
	await look("first");
	await apply("first", { actions: open });
	let applying: Promise<unknown> | undefined;
	await inTransaction(database.pool, async (lane) => {
		await lane.query("select from jobs for update");
		applying = apply("first", {
			actions: [{ do: "unreserve" }, { do: "withdraw", kind: "open" }],
			isEnd: true,
		});
		await someoneWaits(database.pool);
		await inTransaction(database.pool, async (submit) => {
			await submit.query("set local lock_timeout = 2000");
			await submit.query("update stock set reserved = reserved");
		});
	});
	await applying;
	expect(await reserved()).toBe(0n);
});
