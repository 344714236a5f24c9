import { type Order, orderAddress, orderId } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { queueWork } from "../../../test/lane/lane-scene.ts";
import { followLanes, rememberRent } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, errorLog, payout } from "../../../test/lane/solana-lanes.ts";
import { instructionsPerSweep } from "../../chain/solana/program/sign-ending.ts";

const lanes = await createSolanaLanes();
const { runLane, start, slots, clear, setFaults, passTime, queuePayout, queueSettlement, outcomeOf } = lanes;
const { scene, pool, chain } = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

type Account = "order" | "record";

const past = new Date(Date.now() - 600_000);

/** Records the rents of these accounts as due, and their swaps as ended. */
async function remember(...due: readonly (readonly [Order, Account])[]): Promise<void> {
	for (const [order, account] of due) {
		await rememberRent(scene, { order, account, closableAt: past });
		await pool.query("update swaps set ended_at = now() where order_id = $1", [hexToBytes(orderId(order))]);
	}
}

/** Returns a released order and a filled one. Their accounts may be closed by the chain's clock. */
async function decideTwo(terms: { symbol?: string } = {}) {
	const [{ order: released }, { order: filled }] = [
		await queueSettlement("release", terms),
		await queuePayout(),
	];
	await runLane();
	await slots(3);
	await passTime(4_001 + 86_400);
	await followLanes(scene);
	return { released, filled };
}

async function closes() {
	return (await lanes.transactions()).filter(({ kind }) => kind === "close");
}

test("due accounts of orders and records are closed by one transaction, and the rent goes to its payer", async () => {
	const { released, filled } = await decideTwo();
	await remember([released, "order"], [filled, "record"]);
	const [payer, vault] = [lanes.stranger.address, chain.deployment.program.vault];
	const before = [await lanes.balance(payer, "SOL"), await lanes.balance(vault, "SOL")] as const;
	await runLane();
	await slots(3);
	expect(await outcomeOf(released)).toBeUndefined();
	expect(await outcomeOf(filled)).toBeUndefined();
	expect(await closes()).toMatchObject([{ jobs: [{}, {}] }]);
	expect((await lanes.balance(payer, "SOL")) - before[0]).toBe(4_600_560n);
	expect((await lanes.balance(vault, "SOL")) - before[1]).toBe(1_336_320n);
});

test("nothing is closed before it is due, while its swap is open or has an unfinished job, or while there is other work", async () => {
	const { released, filled } = await decideTwo();
	await remember([released, "order"], [filled, "record"]);
	const soon = new Date(Date.now() - 30_000);
	await pool.query("update rents set closable_at = $1 where account = 'order'", [soon]);
	await pool.query("update swaps set ended_at = null where order_id = $1", [hexToBytes(orderId(filled))]);
	await runLane();
	await pool.query("update rents set closable_at = $1", [past]);
	await pool.query("update swaps set ended_at = now()");
	await pool.query("update jobs set state = 'sent'");
	await start()();
	await pool.query("update jobs set state = 'done'");
	const { order: next } = await queuePayout();
	await runLane();
	expect(await lanes.states([next], "fill")).toEqual(["sent"]);
	expect(await closes()).toEqual([]);
	await runLane();
	expect(await closes()).toMatchObject([{ jobs: [{}, {}] }]);
});

test("accounts that are closed or unpaid are skipped, regardless of their number", async () => {
	const { released } = await decideTwo();
	const { order: unpaid } = await lanes.openByStranger();
	const gone = [];
	for (let i = 0; i < instructionsPerSweep; i++) gone.push((await queuePayout()).order);
	await pool.query("delete from jobs");
	await slots(40);
	await remember(...gone.map((order) => [order, "record"] as const), [unpaid, "order"], [released, "order"]);
	await pool.query("update rents set closable_at = closable_at - interval '1 day' where order_id <> $1", [
		hexToBytes(orderId(released)),
	]);
	await runLane();
	await slots(3);
	expect(await closes()).toMatchObject([{ jobs: [{}] }]);
	expect(await outcomeOf(released)).toBeUndefined();
	expect(await outcomeOf(unpaid)).toBe("opened");
});

test("an account that cannot be closed is reported, and does not delay the others", async () => {
	const { filled } = await decideTwo();
	// The chain's clock has not reached the deadline of an order that is made now.
	const { order: early } = await queueSettlement("release");
	await runLane();
	await slots(40);
	await remember([early, "order"], [filled, "record"]);
	const { log, errors } = errorLog();
	for (let run = 0; run < 3; run++) await runLane({ log });
	await slots(3);
	expect(errors).toMatchObject([{ addresses: { length: 1 } }]);
	expect(await outcomeOf(filled)).toBeUndefined();
	expect(await outcomeOf(early)).toBe("released, paid");
});

test("SOL that arrived after the payment goes to the input's owner, and the account is still closed", async () => {
	const { released, filled } = await decideTwo({ symbol: "SOL" });
	await remember([released, "order"], [filled, "record"]);
	const { program } = chain.deployment;
	const address = await orderAddress(program.address, orderId(released));
	await scene.solana.admin.airdrop({ address, lamports: 1n });
	await slots(40);
	const [payer, vault] = [lanes.stranger.address, program.vault];
	const before = [await lanes.balance(payer, "SOL"), await lanes.balance(vault, "SOL")] as const;
	await runLane();
	await slots(3);
	expect(await outcomeOf(released)).toBeUndefined();
	expect(await closes()).toMatchObject([{ jobs: [{}, {}] }]);
	expect((await lanes.balance(payer, "SOL")) - before[0]).toBe(2_561_280n);
	expect((await lanes.balance(vault, "SOL")) - before[1]).toBe(1_336_320n + 1n);
});

test("one transaction at a time closes accounts, and one that was lost is signed again once it has expired", async () => {
	const { released, filled } = await decideTwo();
	await remember([released, "order"]);
	await setFaults({ dropSends: true });
	await runLane();
	await remember([filled, "record"]);
	await runLane();
	expect(await closes()).toMatchObject([{ jobs: [{}] }]);
	// Another lane may close what is in no transaction.
	await slots(200);
	await setFaults({});
	await runLane({ lane: 1 });
	expect(await closes()).toMatchObject([{ jobs: [{}] }, { jobs: [{}] }]);
	await slots(3);
	expect(await outcomeOf(filled)).toBeUndefined();
	expect(await outcomeOf(released)).toBe("released, paid");
	await runLane();
	await slots(3);
	expect(await outcomeOf(released)).toBeUndefined();
	expect(await closes()).toMatchObject([{ state: "final" }, {}, { state: "broadcast" }]);
});

test("a voided order's record is closed, and a fill of the order can then no longer be signed", async () => {
	const { order } = await lanes.queueVoid();
	await runLane();
	await slots(3);
	await passTime(4_001 + 86_400);
	await followLanes(scene);
	await remember([order, "record"]);
	await runLane();
	await slots(3);
	expect(await outcomeOf(order)).toBeUndefined();
	await queueWork(pool, order, { kind: "fill", payload: { delivery: payout } });
	await runLane();
	expect(await lanes.states([order], "fill")).toEqual(["refused"]);
});
