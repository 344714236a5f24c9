import { type Order, orderId } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { queueWork, readJob } from "../../../test/lane/lane-scene.ts";
import { payThroughFaults } from "../../../test/lane/solana-lane-chaos.ts";
import { createSolanaLanes, payout } from "../../../test/lane/solana-lanes.ts";

// The lanes and the follower, as they work together.

const lanes = await createSolanaLanes({ follower: "real" });
const {
	pump,
	follow,
	slots,
	clear,
	forget,
	queuePayout,
	queueVoid,
	queueSettlement,
	queueOpen,
	states,
	scene,
} = lanes;
beforeEach(async () => {
	await clear();
	await follow();
});
afterAll(() => lanes.stop());

test("every kind of job is done and recorded by its event", async () => {
	const jobs = [
		["fill", "Filled", await queuePayout()],
		["void", "Voided", await queueVoid()],
		["release", "Released", await queueSettlement("release")],
		["refund", "Refunded", await queueSettlement("refund")],
		["open", "Opened", await queueOpen()],
	] as const;
	await pump();
	await slots(3);
	await follow();
	for (const [kind, name, { order }] of jobs) {
		expect(await states([order], kind)).toEqual(["done"]);
		expect(await eventsOf(order)).toEqual([name]);
	}
});

test("a restored store records transactions that it forgot, whatever its jobs ask for", async () => {
	const [paid, voided] = [await queuePayout(), await queueVoid()];
	await pump();
	await slots(40);
	await forget();
	// The jobs are those of a store so old that it wants the opposite.
	await scene.owner.query("truncate jobs");
	await queueWork(scene.pool, paid.order, { kind: "void", payload: {} });
	await queueWork(scene.pool, voided.order, { kind: "fill", payload: { delivery: payout } });
	await pump();
	await slots(3);
	await follow();
	expect(await eventsOf(paid.order)).toEqual(["Filled"]);
	expect(await eventsOf(voided.order)).toEqual(["Voided"]);
	expect(await states([paid.order], "void")).toEqual(["queued"]);
	expect(await readJob(scene.pool, voided.swapId, "fill")).toMatchObject({
		state: "refused",
		reason: "too_late",
	});
});

test("an op that landed unseen is recorded, however late the lane looks", async () => {
	const { order } = await queueOpen();
	await pump();
	await slots(3);
	await forget();
	await slots(250);
	await pump();
	await slots(3);
	await follow();
	expect(await states([order], "open")).toEqual(["done"]);
	expect(await eventsOf(order)).toEqual(["Opened"]);
});

test.each(Array.from({ length: process.env.GEOSWAP_FULL ? 100 : 2 }, (_, seed) => seed))(
	"whatever goes wrong, in whatever order, each order is paid exactly once (%i)",
	(seed) => payThroughFaults(lanes, seed + 1_000),
	60_000,
);

async function eventsOf(order: Order): Promise<string[]> {
	const { rows } = await scene.pool.query<{ name: string }>(
		`select name from chain_events
		where order_id = $1 and block_number > 0 and name in ('Opened', 'Filled', 'Voided', 'Released', 'Refunded')`,
		[hexToBytes(orderId(order))],
	);
	return rows.map(({ name }) => name);
}
