import { afterAll, beforeEach, expect, test } from "vitest";
import { readJob } from "../../../test/lane/lane-scene.ts";
import { followLanes, followSlots } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, errorLog } from "../../../test/lane/solana-lanes.ts";
import { countingPool } from "../../../test/service/counting-pool.ts";
import { withLamports } from "../../../test/solana/with-lamports.ts";
import { answeringTraces } from "../../../test/telemetry/answering-traces.ts";

const lanes = await createSolanaLanes();
const { runLane, slots, clear, queuePayout, balance, changesOf, transactions, start, scene, feePayerOf } =
	lanes;
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
		expect(await changesOf(order)).toBe(1);
	}
	expect(await transactions()).toHaveLength(6);
});

test("a run without work is three statements", async () => {
	await runLane();
	const counted = countingPool(scene.pool);
	await runLane({ pool: counted.pool });
	expect(counted.statements).toHaveLength(3);
});

test("a payout is sent even if the lookup of traces never answers", async () => {
	const { recipient } = await queuePayout();
	const unexpected = () => {
		throw new Error("unexpected");
	};
	await runLane({
		pool: answeringTraces(scene.pool, () => new Promise(() => {})),
		tracer: { begin: unexpected, record: unexpected },
	});
	await slots(3);
	expect(await balance(recipient)).toBe(9_950_000n);
});

test("a payout pays the amount that may be delivered at signing, waits without a price, and is refused below its minimum", async () => {
	const waiting = await queuePayout();
	await runLane({ deliveryNow: () => "no-price" });
	expect(await readJob(scene.pool, waiting.swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	await slots(11);
	await runLane({ deliveryNow: () => ({ kind: "payout", amount: 9_910_000n, unusedRent: 0n }) });
	await slots(3);
	expect(await balance(waiting.recipient)).toBe(9_910_000n);

	const fallen = await queuePayout();
	await runLane({ deliveryNow: () => "below-minimum" });
	expect(await readJob(scene.pool, fallen.swapId, "fill")).toMatchObject({
		state: "refused",
		reason: "price",
	});
	expect(await balance(fallen.recipient)).toBe(0n);
});

test("a fee payer whose balance is low is reported once a minute, and pays as long as it can", async () => {
	const { log, errors } = errorLog();
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
	expect(errors).toMatchObject([{ lamports: 99_999_999n }, { lamports: 99_999_999n }]);
});

test("a key of an unknown fee payer is ignored", async () => {
	await followSlots(scene);
	await queuePayout();
	await start({ keys: { ...scene.keys, feePayers: [] } })();
	expect(await transactions()).toEqual([]);
});
