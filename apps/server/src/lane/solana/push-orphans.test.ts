import { afterAll, beforeEach, expect, test } from "vitest";
import { readJob } from "../../../test/lane/lane-scene.ts";
import { followSlots } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, errorLog } from "../../../test/lane/solana-lanes.ts";

const lanes = await createSolanaLanes();
const {
	runLane,
	start,
	slots,
	setFaults,
	clear,
	queuePayout,
	queueOpen,
	balance,
	states,
	transactions,
	scene,
} = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

const { log, errors } = errorLog();

/** Runs lane 0 of a worker whose deployment has no other fee payer any more. */
async function runAlone(): Promise<void> {
	const feePayers = scene.keys.feePayers.slice(0, 1);
	const deployment = { ...scene.chain.deployment, feePayers: feePayers.map(({ address }) => address) };
	await start({ chain: { ...scene.chain, deployment }, keys: { ...scene.keys, feePayers }, log })();
}

test("a transaction of a removed fee payer is sent unchanged, and paid once", async () => {
	const { order, recipient } = await queuePayout();
	await setFaults({ dropSends: true });
	await runLane({ lane: 1 });
	await setFaults({});
	await slots(6);
	await followSlots(scene);
	await runAlone();
	await slots(3);
	await runLane();
	expect(await states([order], "fill")).toEqual(["done"]);
	expect(await balance(recipient)).toBe(9_950_000n);
	expect(await transactions()).toHaveLength(1);
});

test("a transaction of a removed fee payer that never landed is given up, its payout is signed again, and its deposit is refused", async () => {
	const { order, recipient } = await queuePayout();
	const { swapId } = await queueOpen({ feePayer: 1 });
	await setFaults({ dropSends: true });
	await runLane({ lane: 1 });
	await setFaults({});
	await slots(200);
	await followSlots(scene);
	await runAlone();
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "expired" });
	await slots(3);
	await runLane();
	expect(await states([order], "fill")).toEqual(["done"]);
	expect(await balance(recipient)).toBe(9_950_000n);
});

test("a queued op of a removed fee payer is refused once it is expired at finality, and this is reported", async () => {
	const { swapId } = await queueOpen({ feePayer: 1 });
	await followSlots(scene);
	await runAlone();
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "queued" });
	expect(errors).toEqual([]);
	await slots(200);
	await followSlots(scene);
	await runAlone();
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "expired" });
	expect(errors).toMatchObject([{ swapIds: [swapId] }]);
});
