import { bytesToHex } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { readJob } from "../../../test/lane/lane-scene.ts";
import { followLanes, followSlots } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes } from "../../../test/lane/solana-lanes.ts";
import { laggingSolana } from "../../../test/solana/lagging-solana.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";

const lanes = await createSolanaLanes();
const {
	runLane,
	slots,
	setFaults,
	clear,
	woken,
	queuePayout,
	queueOpen,
	queueSettlement,
	balance,
	outcomeOf,
	changesOf,
	states,
	transactions,
	start,
	scene,
} = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a journalled transaction that was never sent is sent unchanged, once, by the next run", async () => {
	const { order, recipient } = await queuePayout();
	const dying: SolanaChain = {
		...scene.chain,
		rpc: new Proxy(scene.chain.rpc, {
			get: (rpc, name, receiver) =>
				name === "sendTransaction"
					? () => {
							throw new Error("killed");
						}
					: Reflect.get(rpc, name, receiver),
		}),
	};
	await runLane({ chain: dying });
	const [journalled] = await transactions();
	expect(journalled).toMatchObject({ state: "signed", kind: "fill" });
	expect(await states([order], "fill")).toEqual(["sent"]);
	await slots(3);
	expect(await balance(recipient)).toBe(0n);

	await runLane();
	await slots(3);
	expect(await balance(recipient)).toBe(9_950_000n);
	const [sent, ...others] = await transactions();
	expect(others).toEqual([]);
	expect(sent?.raw).toEqual(journalled?.raw);
});

test("a transaction that a node dropped is sent again after some slots, and only then", async () => {
	const { recipient } = await queuePayout();
	await setFaults({ dropSends: true });
	await runLane();
	await setFaults({});
	await slots(2);
	await runLane();
	await slots(3);
	expect(await balance(recipient)).toBe(0n);
	await runLane();
	await slots(3);
	expect(await balance(recipient)).toBe(9_950_000n);
	expect(await transactions()).toHaveLength(1);
});

test("lost responses of the node cause no second payout", async () => {
	const { order, recipient } = await queuePayout();
	await setFaults({ dropAnswers: { methods: ["sendTransaction"] } });
	await runLane();
	expect(await transactions()).toMatchObject([{ state: "signed" }]);
	await slots(3);
	await setFaults({
		dropAnswers: { methods: ["getMultipleAccounts", "simulateTransaction"] },
	});
	const second = await queuePayout();
	await followLanes(scene);
	await start()().catch(() => {});
	expect(await states([order], "fill")).toEqual(["done"]);
	expect(await states([second.order], "fill")).toEqual(["queued"]);
	await setFaults({});
	await slots(10);
	await runLane();
	await slots(3);
	expect(await balance(recipient)).toBe(9_950_000n);
	expect(await balance(second.recipient)).toBe(9_950_000n);
});

test("a payout is signed again only once its blockhash is expired at finality and the transaction is unknown", async () => {
	const { order, swapId, recipient } = await queuePayout();
	await setFaults({ dropSends: true, stallFinality: true });
	await runLane();
	// The blockhash has expired at the newest block, and not yet at the newest final one.
	await slots(200);
	await runLane();
	expect(await states([order], "fill")).toEqual(["sent"]);
	expect(await transactions()).toHaveLength(1);

	await setFaults({});
	await slots(40);
	await runLane();
	expect(await transactions()).toMatchObject([{ state: "final" }, { state: "broadcast" }]);
	expect(await woken()).toEqual([swapId]);
	await slots(3);
	await runLane();
	expect(await states([order], "fill")).toEqual(["done"]);
	expect(await balance(recipient)).toBe(9_950_000n);
});

test("a transaction whose status cannot be read is not given up", async () => {
	const { order } = await queuePayout();
	await setFaults({ dropSends: true });
	await runLane();
	await slots(200);
	await setFaults({ dropAnswers: { methods: ["getTransaction"] } });
	await runLane();
	expect(await states([order], "fill")).toEqual(["sent"]);
	expect(await transactions()).toMatchObject([{ state: "broadcast" }]);
});

test("a node that reports a landed payout as missing causes no second payout", async () => {
	const { order, recipient } = await queuePayout();
	await runLane();
	await setFaults({ lieAboutStatus: "unknown" });
	await slots(200);
	await followSlots(scene);
	// The payout is given up and taken again, and the order's record shows that it was filled.
	await start()();
	expect(await states([order], "fill")).toEqual(["queued"]);
	await slots(20);
	await followSlots(scene);
	await start()(1);
	expect(await transactions()).toMatchObject([{ state: "final" }]);
	expect(await balance(recipient)).toBe(9_950_000n);
	expect(await changesOf(order)).toBe(1);
});

test("an op that never landed is refused once it is expired at finality, and is not signed again", async () => {
	const { order, swapId } = await queueOpen();
	await setFaults({ dropSends: true, stallFinality: true });
	await runLane();
	await slots(200);
	await runLane();
	expect(await states([order], "open")).toEqual(["sent"]);
	await setFaults({});
	await slots(40);
	await runLane();
	expect(await readJob(scene.pool, swapId, "open")).toMatchObject({ state: "refused", reason: "expired" });
	expect(await woken()).toEqual([swapId]);
	expect(await transactions()).toMatchObject([{ state: "final" }]);
});

test.each([
	{ node: "is behind", passing: 200, hides: (slot: number) => ({ asOf: slot }) },
	{ node: "has forgotten its blocks", passing: 600, hides: (slot: number) => ({ first: slot + 100 }) },
])("a landed deposit is not given up because of a node that $node", async ({ passing, hides }) => {
	const { order } = await queueOpen();
	await runLane();
	const { slot } = await followSlots(scene);
	await slots(passing);
	await followSlots(scene);
	await start({ chain: laggingSolana(scene.chain, hides(slot)) })();
	expect(await states([order], "open")).toEqual(["sent"]);
	await runLane();
	expect(await states([order], "open")).toEqual(["done"]);
});

test("a deposit that the chain dropped is sent again unchanged", async () => {
	const { order, wallet } = await queueOpen();
	const before = await balance(wallet);
	await runLane();
	await slots(3);
	await followLanes(scene);
	const [sent] = await transactions();
	await scene.solana.admin.dropTransaction({ signature: toSignature(bytesToHex(sent?.hash ?? Buffer.of())) });
	expect(await outcomeOf(order)).toBeUndefined();
	// The follower and the swap leave the rows like this.
	await scene.pool.query("update lane_transactions set state = 'broadcast', block_number = null");
	await scene.pool.query("update jobs set state = 'queued', relayer = null, nonce = null");
	await slots(6);
	await followSlots(scene);
	await start()();
	await slots(3);
	await runLane();
	expect(await states([order], "open")).toEqual(["done"]);
	expect(await outcomeOf(order)).toBe("opened");
	expect(await balance(wallet)).toBe(before - order.inputAmount);
	expect(await transactions()).toHaveLength(1);
});

test("a release whose transaction was lost is signed again, with the same attesters' signatures", async () => {
	const { order } = await queueSettlement("release");
	await setFaults({ dropSends: true });
	await runLane();
	await setFaults({});
	await slots(200);
	await runLane();
	await slots(3);
	await runLane();
	expect(await transactions()).toMatchObject([{ state: "final" }, { state: "mined" }]);
	expect(await states([order], "release")).toEqual(["done"]);
	expect(await outcomeOf(order)).toBe("released, paid");
});
