import { afterAll, beforeEach, expect, test } from "vitest";
import { queueWork, readJob } from "../../../test/lane/lane-scene.ts";
import { plainPayments } from "../../../test/lane/payment-facts.ts";
import { payThroughFaults } from "../../../test/lane/solana-lane-chaos.ts";
import { followLanes, followSlots, markerOf, successesOf } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, payout, quietLog, solanaLanePolicy } from "../../../test/lane/solana-lanes.ts";
import { countingPool } from "../../../test/service/counting-pool.ts";
import { withLamports } from "../../../test/solana/with-lamports.ts";
import { answeringTraces } from "../../../test/telemetry/answering-traces.ts";
import { createLog } from "../../telemetry/log.ts";
import { createSolanaLane } from "./create-solana-lane.ts";

const lanes = await createSolanaLanes();
const {
	pump,
	slots,
	clear,
	forget,
	queuePayout,
	queueSettlement,
	queueVoid,
	balance,
	decided,
	states,
	transactions,
	start,
	scene,
	feePayerOf,
	keyOf,
} = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("concurrent runs, of one lane and of two, pay each order once", async () => {
	const payouts = await Promise.all(Array.from({ length: 6 }, () => queuePayout()));
	await followLanes(scene);
	await Promise.all([0, 0, 1, 1, 0, 1].map((lane) => start({ bundleSize: 2 })(lane)));
	await slots(3);
	await followLanes(scene);
	await Promise.all([0, 1].map((lane) => start()(lane)));
	await slots(3);
	for (const { recipient, order } of payouts) {
		expect(await balance(recipient)).toBe(9_950_000n);
		expect(await successesOf(scene, await markerOf(scene, order, "vault"))).toHaveLength(1);
	}
	expect(await transactions()).toHaveLength(6);
});

test("a run without work is three statements", async () => {
	await pump();
	const counted = countingPool(scene.pool);
	await pump({ pool: counted.pool });
	expect(counted.statements).toHaveLength(3);
});

test("a payout is sent even if the lookup of traces never answers", async () => {
	const { recipient } = await queuePayout();
	const unexpected = () => {
		throw new Error("unexpected");
	};
	await pump({
		pool: answeringTraces(scene.pool, () => new Promise(() => {})),
		tracer: { begin: unexpected, record: unexpected },
	});
	await slots(3);
	expect(await balance(recipient)).toBe(9_950_000n);
});

test("a second payout in flight fails at the marker, and the job is done once", async () => {
	const { order, swapId, recipient } = await queuePayout();
	await pump();
	// An older backup is restored while the payout is in flight.
	await forget();
	await followSlots(scene);
	await start()(1);
	await slots(4);
	await followLanes(scene);
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "queued", strikes: 1 });
	await slots(12);
	await pump({ lane: 1 });
	await pump({ lane: 1 });
	expect(await states([order], "fill")).toEqual(["done"]);
	expect(await balance(recipient)).toBe(9_950_000n);
	expect(await successesOf(scene, await markerOf(scene, order, "vault"))).toHaveLength(1);
});

test.each(["fill", "void", "release", "refund"] as const)(
	"a restored backup that has forgotten a %s does not repeat it",
	async (kind) => {
		const queue = {
			fill: queuePayout,
			void: queueVoid,
			release: () => queueSettlement("release"),
			refund: () => queueSettlement("refund"),
		};
		const { order } = await queue[kind]();
		const base = kind === "fill" || kind === "void" ? "vault" : "escrow";
		await pump();
		await slots(3);
		const before = await successesOf(scene, await markerOf(scene, order, base));
		expect(before).toHaveLength(1);
		await forget();
		await pump();
		// Nothing is signed or sent: the journal names the transaction that did it, for the follower.
		expect(await transactions()).toMatchObject([{ kind, raw: Buffer.alloc(0), state: "broadcast" }]);
		expect(await states([order], kind)).toEqual(["sent"]);
		await slots(3);
		await pump();
		expect(await states([order], kind)).toEqual(["done"]);
		expect(await successesOf(scene, await markerOf(scene, order, base))).toEqual(before);
	},
);

test("a voided order is never paid, and a paid order is never voided", async () => {
	const voided = await queuePayout();
	await scene.pool.query("delete from jobs");
	await queueWork(scene.pool, voided.order, { kind: "void", payload: {} });
	const paid = await queuePayout();
	await pump();
	await slots(3);
	await followLanes(scene);
	await scene.owner.query("delete from lane_transactions");
	await scene.pool.query("delete from jobs");

	await queueWork(scene.pool, voided.order, { kind: "fill", payload: { delivery: payout } });
	await queueWork(scene.pool, paid.order, { kind: "void", payload: {} });
	await pump();
	expect(await readJob(scene.pool, voided.swapId, "fill")).toMatchObject({
		state: "refused",
		reason: "too_late",
	});
	// The void is left for the swap to take back, once it knows that it is paid.
	expect(await states([paid.order], "void")).toEqual(["queued"]);
	expect(await transactions()).toMatchObject([{ kind: "fill" }, { kind: "void" }]);
	expect(await decided([voided.order, paid.order], "vault")).toEqual(["escrow", "vault"]);
	expect(await balance(voided.recipient)).toBe(0n);
	expect(await balance(paid.recipient)).toBe(9_950_000n);
});

test("a payout pays the amount that may be delivered at signing, waits without a price, and is refused below its minimum", async () => {
	const waiting = await queuePayout();
	await pump({ deliveryNow: () => "no-price" });
	expect(await readJob(scene.pool, waiting.swapId, "fill")).toMatchObject({ state: "queued", strikes: 0 });
	await slots(11);
	await pump({ deliveryNow: () => ({ kind: "payout", amount: 9_910_000n, unusedRent: 0n }) });
	await slots(3);
	expect(await balance(waiting.recipient)).toBe(9_910_000n);

	const fallen = await queuePayout();
	await pump({ deliveryNow: () => "below-minimum" });
	expect(await readJob(scene.pool, fallen.swapId, "fill")).toMatchObject({
		state: "refused",
		reason: "price",
	});
	expect(await balance(fallen.recipient)).toBe(0n);
});

test("a fee payer that runs low is reported once a minute, and pays as long as it can", async () => {
	const told: unknown[] = [];
	const log = createLog({ level: "silent", process: "test" });
	log.error = ((about: object) => {
		told.push(about);
	}) as typeof log.error;
	let nowMs = Date.now();
	const broke = withLamports(scene.chain, { address: feePayerOf(0), lamports: 99_999_999n });
	const run = start({ chain: broke, log, nowMs: () => nowMs });
	for (const passing of [0, 30_000, 30_000]) {
		nowMs += passing;
		const { recipient } = await queuePayout();
		await followLanes(scene);
		await run();
		await slots(3);
		expect(await balance(recipient)).toBe(9_950_000n);
	}
	expect(told).toMatchObject([{ lamports: 99_999_999n }, { lamports: 99_999_999n }]);
});

test("a key of an unknown fee payer is ignored", async () => {
	const run = createSolanaLane({
		chain: scene.chain,
		keys: { ...scene.keys, feePayers: [] },
		policy: solanaLanePolicy,
		payments: plainPayments,
		pool: scene.pool,
		engine: { poke: () => expect.unreachable() },
		deliveryNow: ({ delivery }) => delivery,
		nowMs: Date.now,
		log: quietLog,
	});
	await followSlots(scene);
	await queuePayout();
	await run(keyOf(0));
	expect(await transactions()).toEqual([]);
});

test.each(Array.from({ length: process.env.GEOSWAP_FULL ? 100 : 2 }, (_, seed) => seed))(
	"whatever goes wrong, in whatever order, each order is paid exactly once (%i)",
	(seed) => payThroughFaults(lanes, seed),
	60_000,
);
