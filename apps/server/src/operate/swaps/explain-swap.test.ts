import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { insertRandomSwaps, insertRandomWorld } from "../../../test/swap/random-swaps.ts";
import { sequence } from "../../../test/swap/sequence.ts";
import {
	createSwapScene,
	destinationId,
	originId,
	roundOptions,
	type SwapScene,
	token,
} from "../../../test/swap/swap-scene.ts";
import type { Database } from "../../database/database.ts";
import { createRound } from "../../round/run-round.ts";
import { markAllDue, markOrders } from "../../swap/due/mark-swaps.ts";
import { liftPauses, pauseChain } from "../../swap/pause/pauses.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { type Explanation, explainSwap } from "./explain-swap.ts";
import { readAsAuditor } from "./read-as-auditor.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	vi.stubEnv("AUDITOR_DATABASE_URL", database.urls.auditor);
});
afterAll(async () => {
	vi.unstubAllEnvs();
	await database?.drop();
});
/** Clears the tables, so that swaps that a test leaves unfinished do not appear in the next one. */
beforeEach(async () => {
	const { owner } = database;
	await owner.query(
		"truncate jobs, exposures, waits, reservations, inventory, pair_volume, chain_heads, heartbeats",
	);
	await owner.query("insert into inventory values ($1, $2, 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await owner.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
});

type Explained = Pick<SwapScene, "uuid"> & { clock: { nowMs: number } };

async function explain({ uuid, clock }: Explained): Promise<Explanation> {
	return readAsAuditor((db) => explainIn(db, { uuid, clock }));
}

async function explainIn(db: Database, { uuid, clock }: Explained): Promise<Explanation> {
	const { config } = roundOptions(database.pool, clock);
	const swap = await readSwap(db, uuid);
	if (!swap) throw new Error(`no swap ${uuid}`);
	return explainSwap(db, swap, { config, nowMs: clock.nowMs });
}

/** Runs a round, as after an event of the swap's order. */
async function runRound({ clock, orderId }: SwapScene): Promise<void> {
	await markOrders(database.pool, [orderId]);
	await createRound(roundOptions(database.pool, clock))();
}

/** Creates a swap with a deposit in the newest block. Its value needs one block on top. */
async function deposited(): Promise<SwapScene> {
	const scene = await createSwapScene(database.pool);
	await runRound(scene);
	await scene.setJob("open", "done");
	await scene.emit("Opened", originId);
	await runRound(scene);
	return scene;
}

test("the explanation of a swap that waits for confirmations names their number and the block, and requires no action", async () => {
	const scene = await deposited();
	const { number } = scene.clock;
	expect(await explain(scene)).toMatchObject({
		fact: "deposited",
		lastFact: "deposited",
		facts: expect.arrayContaining([
			`Opened is in block ${number} of chain ${originId}, 0 blocks deep, not final`,
			"confirmations that a deposit of this value needs: 1",
			"attesters alive: 2, needed: 2",
		]),
		actions: [],
		waitsFor: expect.arrayContaining([
			`block ${number + 1} of chain ${originId}, which is at ${number}`,
			expect.stringContaining("the next round runs at the latest at"),
		]),
		todo: [],
	});
	await scene.moveHeads(1);
	expect(await explain(scene)).toMatchObject({
		fact: "delivering",
		actions: ["moves the swap to delivering", "queues the job fill"],
		waitsFor: ["the next round: a block that it waited for is here"],
	});
});

test("the explanation of a fill in flight names its lane, its transaction, and what to check if no block includes it", async () => {
	const scene = await deposited();
	await scene.moveHeads(1);
	await runRound(scene);
	const relayer = "0x00000000000000000000000000000000000000A5";
	await database.owner.query(
		"update jobs set state = 'sent', relayer = $2, nonce = 3, failures = 1 where swap_id = $1 and kind = 'fill'",
		[scene.uuid, hexToBytes(relayer)],
	);
	const inFlight = await explain(scene);
	expect(inFlight).toMatchObject({ fact: "delivering", actions: [], todo: [] });
	expect(inFlight.jobs).toContainEqual(
		expect.objectContaining({ kind: "fill", state: "sent", relayer, nonce: 3, failures: 1 }),
	);
	expect(inFlight.waitsFor).toContain(`its job fill on chain ${destinationId}, which is sent`);

	await database.owner.query("update jobs set updated_at = now() - interval '2 minutes'");
	expect((await explain(scene)).todo).toEqual([
		{ what: expect.stringContaining(`relayer ${relayer}`), command: "geoswapd config check" },
	]);
});

test("a chain that an operator paused does not hold up a swap, and one that dropped final blocks does", async () => {
	const scene = await deposited();
	await scene.moveHeads(1);
	const pause = { chainId: destinationId, reason: "a drill", setBy: "ada", nowMs: scene.clock.nowMs };
	await pauseChain(database.owner, { ...pause, cause: "operator" });
	expect(await explain(scene)).toMatchObject({
		fact: "delivering",
		pauses: [{ chainId: destinationId, cause: "operator", holdsUp: false }],
		todo: [],
	});
	await pauseChain(database.owner, { ...pause, cause: "finality", reason: "block 90 is gone" });
	expect(await explain(scene)).toMatchObject({
		fact: "finality-broken",
		actions: [],
		pauses: expect.arrayContaining([expect.objectContaining({ cause: "finality", holdsUp: true })]),
		todo: [{ command: `geoswapd pauses lift ${destinationId} --cause finality --by NAME --reason TEXT` }],
	});
	await runRound(scene);
	expect(await explain(scene)).toMatchObject({ fact: "finality-broken", lastFact: "finality-broken" });
	for (const cause of ["operator", "finality"] as const) {
		await liftPauses(database.owner, { ...pause, cause, by: "ada" });
	}
});

test("the explanation of silent attesters has the number of missing ones, and the command that names them", async () => {
	const scene = await deposited();
	await scene.moveHeads(1);
	await database.owner.query("update heartbeats set signed_at = signed_at - interval '1 hour'");
	expect(await explain(scene)).toMatchObject({
		fact: "attesters-silent",
		facts: expect.arrayContaining(["attesters alive: 0, needed: 2"]),
		todo: [{ command: "geoswapd config check" }],
	});
});

test("the explanation of a pending refund has its reason, and that it waits for attesters", async () => {
	const scene = await deposited();
	await scene.moveHeads(1);
	await runRound(scene);
	await scene.setJob("fill", "refused", "price");
	expect(await explain(scene)).toMatchObject({
		fact: "voiding",
		actions: expect.arrayContaining(["gives up on the delivery: PRICE_MOVED", "queues the job void"]),
	});
	await runRound(scene);
	await scene.setJob("void", "done");
	await scene.emit("Voided", destinationId);
	await scene.moveHeads(4);
	await runRound(scene);
	const pending = await explain(scene);
	expect(pending).toMatchObject({
		fact: "refunding",
		facts: expect.arrayContaining(["the delivery was given up: PRICE_MOVED"]),
		waitsFor: expect.arrayContaining([`its job refund on chain ${originId}, which is unattested`]),
		todo: [],
	});
	await database.owner.query("update heartbeats set signed_at = signed_at - interval '1 hour'");
	expect((await explain(scene)).todo).toEqual([
		{
			what: expect.stringContaining("needs the signatures of 2 attesters"),
			command: "geoswapd config check",
		},
	]);
});

test("the explanation gives the reason if a swap has ended, if rounds are late to process it, and if it has lost its wait", async () => {
	const scene = await createSwapScene(database.pool);
	await scene.moveHeads(30);
	expect((await explain(scene)).todo).toEqual([
		{ what: expect.stringMatching(/should have run for this swap \d+ s ago/), command: "geoswapd worker" },
	]);
	await scene.moveHeads(50);
	await runRound(scene);
	expect(await explain(scene)).toMatchObject({
		swap: { status: "failed" },
		fact: "ended",
		means: expect.stringContaining("ended as failed, and that is final. The order was not opened"),
		todo: [],
	});
	const lost = await createSwapScene(database.pool);
	await database.owner.query("delete from waits where swap_id = $1", [lost.uuid]);
	expect(await explain(lost)).toMatchObject({ fact: "stuck", todo: [{ command: "geoswapd restored" }] });
});

test("the explained step is the one that the next round finds, regardless of the states of swaps", async () => {
	const { owner, pool } = database;
	const clock = { nowMs: Date.now() };
	await owner.query("truncate swaps, swap_events, chain_events, inventory, pair_volume");
	await insertRandomWorld(owner, clock);
	const ids = await insertRandomSwaps(owner, { count: 60, nowMs: clock.nowMs, random: sequence(11) });
	await markAllDue(owner);
	const explained = new Map<string, string>();
	await readAsAuditor(async (db) => {
		for (const uuid of ids) explained.set(uuid, (await explainIn(db, { uuid, clock })).fact);
	});
	await createRound(roundOptions(pool, clock))();
	const { rows } = await owner.query<{ swap_id: string; fact: string }>(
		"select distinct on (swap_id) swap_id, fact from swap_events where fact <> 'submitted' order by swap_id, seq",
	);
	// Whether there is room under a cap depends on the other swaps of the round.
	const found = rows.filter(({ fact }) => fact !== "exposure-cap");
	expect(found.length).toBeGreaterThan(40);
	expect(found.map(({ swap_id: id }) => [id, explained.get(id)])).toEqual(
		found.map(({ swap_id: id, fact }) => [id, fact]),
	);
	expect(new Set(found.map(({ fact }) => fact)).size).toBeGreaterThan(8);
});

test("a login with write privileges cannot write while a swap is explained", async () => {
	const scene = await createSwapScene(database.pool);
	vi.stubEnv("AUDITOR_DATABASE_URL", database.urls.owner);
	try {
		for (const statement of [
			"update swaps set stage = 'deposited'",
			"delete from waits",
			`select id from swaps where id = '${scene.uuid}' for update`,
		]) {
			await expect(readAsAuditor((db) => db.query(statement))).rejects.toThrow("read-only transaction");
		}
		expect(await explain(scene)).toMatchObject({ fact: "opening" });
	} finally {
		vi.stubEnv("AUDITOR_DATABASE_URL", database.urls.auditor);
	}
});
