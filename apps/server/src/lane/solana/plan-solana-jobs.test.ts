import type { Order, SolanaAddress } from "@geoswap/protocol";
import { afterAll, beforeEach, expect, test } from "vitest";
import { queueWork, readJob } from "../../../test/lane/lane-scene.ts";
import { createSolanaLanes, payout } from "../../../test/lane/solana-lanes.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";

const lanes = await createSolanaLanes();
const { runLane, slots, clear, queuePayout, queueSettlement, outcomeOf, states, transactions, scene } = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a job whose recipient cannot be read waits, and blocks no other job", async () => {
	const bad = await queuePayout();
	const good = await queuePayout();
	await runLane({ chain: silentAbout(bad.recipient) });
	expect(await states([good.order], "fill")).toEqual(["sent"]);
	expect(await readJob(scene.pool, bad.swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
});

test("a voided order is never paid, and a paid order is never voided", async () => {
	const [voided, paid] = [await lanes.queueVoid(), await queuePayout()];
	await runLane();
	await slots(3);
	await scene.owner.query("truncate jobs, lane_transactions");
	await queueWork(scene.pool, voided.order, { kind: "fill", payload: { delivery: payout } });
	await queueWork(scene.pool, paid.order, { kind: "void", payload: {} });
	await runLane();
	const refused = { state: "refused", reason: "too_late" };
	expect(await readJob(scene.pool, voided.swapId, "fill")).toMatchObject(refused);
	// The void is left for the swap to take back, once it is known to be paid.
	expect(await states([paid.order], "void")).toEqual(["queued"]);
	expect(await transactions()).toEqual([]);
	expect(await outcomeOf(voided.order)).toBe("voided");
	expect(await outcomeOf(paid.order)).toBe("filled");
});

test("a settlement whose signatures are missing is not signed, and is retried with longer waits", async () => {
	const { order, swapId } = await queueSettlement("release");
	await scene.pool.query("update jobs set attestation_id = null");
	for (const failures of [1, 2]) {
		await runLane();
		expect(await readJob(scene.pool, swapId, "release")).toMatchObject({ state: "queued", failures });
		await slots(10);
	}
	await scene.pool.query("delete from jobs");
	await lanes.queueAttested("release", order);
	await runLane();
	await slots(3);
	expect(await outcomeOf(order)).toBe("released, paid");
});

test("nothing is signed for an order that is decided against the job, not opened yet, or paid already", async () => {
	const { order: released } = await queueSettlement("release");
	await runLane();
	await slots(3);
	await scene.owner.query("truncate jobs, lane_transactions");
	const { order: unopened } = await lanes.queueOpen();
	await scene.pool.query("delete from jobs");
	const jobs: [Order, "release" | "refund"][] = [
		[released, "refund"],
		[unopened, "release"],
		[unopened, "refund"],
	];
	for (const [order, kind] of jobs) {
		const swapId = await lanes.queueAttested(kind, order);
		await runLane();
		expect(await readJob(scene.pool, swapId, kind)).toMatchObject({ state: "queued", failures: 0 });
	}
	const again = await lanes.queueAttested("release", released);
	await runLane();
	expect(await readJob(scene.pool, again, "release")).toMatchObject({ state: "queued", failures: 0 });
	expect(await transactions()).toEqual([]);
});

/** Returns the chain behind a node that fails when it is to read accounts of which this is the first. */
function silentAbout(address: SolanaAddress): SolanaChain {
	const { rpc } = scene.chain;
	const silent = new Proxy(rpc, {
		get: (_, name) => {
			const call = Reflect.get(rpc, name) as (...args: unknown[]) => unknown;
			return (...args: unknown[]) =>
				name === "getMultipleAccounts" && [args[0]].flat()[0] === address
					? { send: () => Promise.reject(new Error("no answer")) }
					: call(...args);
		},
	});
	return { ...scene.chain, rpc: silent };
}
