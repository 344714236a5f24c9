import {
	createTokenAccount,
	decideOrders,
	expireOrder,
	fundOrder,
	openOrder,
	orderId,
	payOrder,
	prepareOrder,
	tokenAccountOf,
	toSolanaWord,
} from "@geoswap/protocol";
import { getCloseAccountInstruction } from "@solana-program/token";
import { type Hex, hexToBytes, zeroHash } from "viem";
import { afterAll, beforeEach, expect, test } from "vitest";
import { queueWork, readJob } from "../../../test/lane/lane-scene.ts";
import { plainPayments } from "../../../test/lane/payment-facts.ts";
import { payThroughFaults } from "../../../test/lane/solana-lane-chaos.ts";
import { depositOrder, devnetWallet, mintOf, newSolanaWallet } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, payout } from "../../../test/lane/solana-lanes.ts";
import { readHoldings } from "../../chain/solana/read/read-holdings.ts";

// The lanes and the follower, as they work together.

const lanes = await createSolanaLanes({ follower: "real" });
const {
	runLane,
	start,
	follow,
	slots,
	clear,
	forget,
	passTime,
	land,
	saveSwap,
	states,
	eventsOf,
	outcomeOf,
} = lanes;
const { queuePayout, queueVoid, queueSettlement, queueWithin, queueOpen, queueAttested, changesOf } = lanes;
const { transactions, balance, scene, chain, pool } = lanes;
const { program } = chain.deployment;

beforeEach(async () => {
	await clear();
	await follow();
});
afterAll(() => lanes.stop());

/** Runs a lane, lands what it sent, and follows until that is final. */
async function finish(): Promise<void> {
	await runLane();
	await slots(3);
	await follow();
	await slots(40);
	await follow();
}

async function booked(account: string, token: Hex = zeroHash): Promise<bigint> {
	const { rows } = await pool.query<{ sum: bigint | null }>(
		"select sum(amount) as sum from entries where chain_id = $1 and account = $2 and token = $3",
		[chain.chainId, account, hexToBytes(token)],
	);
	return rows[0]?.sum ?? 0n;
}

test("every kind of job is completed and recorded by its events, and the books match to the unit", async () => {
	const payer = lanes.feePayerOf(0);
	const [held, inBooks] = [await balance(payer, "SOL"), await booked("relayer")];
	const jobs = [
		["fill", ["Filled", "RentPaid", "AccountMade"], await queuePayout()],
		["fill", ["Filled", "ToppedUp", "RentPaid", "AccountMade"], await queuePayout({ topUp: 2_000_000n })],
		["void", ["Voided", "RentPaid"], await queueVoid()],
		["fill", ["Opened", "Filled", "AccountMade", "Released"], await queueWithin("fill")],
		["refund", ["Opened", "Refunded"], await queueWithin("refund")],
		["release", ["Opened", "Released"], await queueSettlement("release")],
		["release", ["Opened", "Released"], await queueSettlement("release", { symbol: "SOL" })],
		["refund", ["Opened", "Refunded"], await queueSettlement("refund")],
		["open", ["Opened", "RentPaid"], await queueOpen()],
	] as const;
	await finish();
	for (const [kind, names, { order }] of jobs) {
		expect(await states([order], kind)).toEqual(["done"]);
		expect(await eventsOf(order)).toEqual(names);
	}
	expect(await balance(jobs[7][2].wallet.address)).toBe(10_000_000n);
	expect(await balance(jobs[1][2].recipient, "SOL")).toBe(2_000_000n);
	expect((await booked("relayer")) - inBooks).toBe((await balance(payer, "SOL")) - held);
	const { vault } = await readHoldings(chain, { commitment: "finalized", others: [] });
	for (const [token, amount] of vault) expect(await booked("inventory", token)).toBe(amount);
	expect((await pool.query("select from postings where name = 'unattributed'")).rows).toEqual([]);
});

test("a refund without attesters' signatures waits until the order's refundAfter", async () => {
	const { order } = await lanes.openByStranger();
	const work = { kind: "refund", payload: { attested: false } } as const;
	const swapId = await queueWork(pool, order, work, { isJustified: false });
	await finish();
	expect(await outcomeOf(order)).toBe("opened");
	expect(await readJob(pool, swapId, "refund")).toMatchObject({ state: "queued", failures: 0 });
	await passTime(4_001);
	await finish();
	expect(await eventsOf(order)).toEqual(["Opened", "Refunded"]);
});

test("a wallet's closed account is made again only for a refund worth ten times its rent", async () => {
	const payments = { ...plainPayments, worthE18: ({ amount }: { amount: bigint }) => amount };
	for (const inputAmount of [10_000_000n, 30_000_000n]) {
		const { order, wallet, swapId } = await queueSettlement("refund", { inputAmount });
		const account = await tokenAccountOf({ owner: wallet.address, token: mintOf(chain, "USDC") });
		const destination = lanes.stranger.address;
		await land(getCloseAccountInstruction({ account, destination, owner: wallet }));
		await runLane({ payments });
		await slots(3);
		await follow();
		const isWorth = inputAmount === 30_000_000n;
		expect(await balance(wallet.address)).toBe(isWorth ? inputAmount : 0n);
		const job = isWorth ? { state: "done" } : { state: "queued", failures: 1 };
		expect(await readJob(pool, swapId, "refund")).toMatchObject(job);
		if (isWorth) continue;
		// The wallet is paid once it has an account again.
		const token = mintOf(chain, "USDC");
		await land(await createTokenAccount({ payer: lanes.stranger, owner: wallet.address, token }));
		await slots(20);
		await runLane({ payments });
		await slots(3);
		expect(await balance(wallet.address)).toBe(inputAmount);
		expect(await outcomeOf(order)).toBe("refunded, paid");
	}
});

test("third parties' actions on orders are found by the orders' accounts, and the lane does the rest", async () => {
	const { order } = await lanes.openByStranger();
	const signatures = await lanes.attest("release", order);
	const decided = { orderIds: [orderId(order)], set: program.attesterSet, signatures };
	await land(await decideOrders(program.address, "Release", decided));
	await slots(40);
	await follow();
	expect(await eventsOf(order)).toEqual(["Opened"]);
	// The order is decided and not paid. The lane pays it, without signatures.
	const paying = await queueWork(pool, order, { kind: "release", payload: {} });
	await finish();
	expect(await eventsOf(order)).toEqual(["Opened", "Released"]);
	expect(await readJob(pool, paying, "release")).toMatchObject({ state: "done" });

	const { order: refunded } = await lanes.openByStranger();
	const expiring = await queueAttested("refund", refunded);
	await passTime(4_001);
	await land(
		await expireOrder(program.address, orderId(refunded)),
		await payOrder(program.address, refunded, { to: "wallet" }),
	);
	await slots(40);
	await finish();
	expect(await eventsOf(refunded)).toEqual(["Opened", "Refunded"]);
	expect(await readJob(pool, expiring, "refund")).toMatchObject({ state: "done" });
	expect(await transactions()).toMatchObject([{ kind: "release" }]);
});

test("an op whose order a third party has prepared opens it", async () => {
	const { order, wallet } = await queueOpen();
	await land(await prepareOrder(program.address, order, lanes.stranger));
	const before = await balance(wallet);
	await finish();
	expect(await states([order], "open")).toEqual(["done"]);
	// The rent is the stranger's.
	expect(await eventsOf(order)).toEqual(["Opened"]);
	expect(await balance(wallet)).toBe(before - order.inputAmount);
});

test("an op is not sent if its wallet has opened the order itself", async () => {
	const wallet = await devnetWallet(scene, 2);
	const { order, swapId } = await queueOpen({ wallet });
	await land(
		await prepareOrder(program.address, order, lanes.stranger),
		await fundOrder(program.address, order, { wallet, decimals: 6 }),
		await openOrder(program.address, order),
	);
	await slots(40);
	await finish();
	expect(await eventsOf(order)).toEqual(["Opened"]);
	expect(await readJob(pool, swapId, "open")).toMatchObject({ state: "done" });
	expect(await transactions()).toEqual([]);
});

test.each([
	["fill", queuePayout, "Filled"],
	["void", queueVoid, "Voided"],
	["fill", () => queueWithin("fill"), "Filled"],
	["refund", () => queueWithin("refund"), "Refunded"],
	["release", () => queueSettlement("release"), "Released"],
	["refund", () => queueSettlement("refund"), "Refunded"],
] as const)("a restored backup that has lost a %s does not repeat it", async (kind, queue, name) => {
	const { order } = await queue();
	await runLane();
	await slots(3);
	const [sent] = await transactions();
	const [outcome, changes] = [await outcomeOf(order), await changesOf(order)];
	await forget();
	// The lane runs before the follower has read anything.
	await start()();
	expect(await transactions()).toEqual([]);
	expect(await states([order], kind)).toEqual(["queued"]);
	await slots(40);
	await finish();
	expect(await states([order], kind)).toEqual(["done"]);
	expect(await eventsOf(order)).toContain(name);
	// The transaction is in the journal again, so that its fee is booked.
	expect(await transactions()).toMatchObject([
		{ kind, raw: Buffer.alloc(0), hash: sent?.hash, state: "final" },
	]);
	expect([await outcomeOf(order), await changesOf(order)]).toEqual([outcome, changes]);
});

test("a second payout in flight fails at the record, and the job is done once", async () => {
	const { order, swapId, recipient } = await queuePayout();
	await runLane();
	// An older backup is restored while the payout is in flight.
	await forget();
	await start()(1);
	await slots(4);
	await follow();
	expect(await readJob(pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 1 });
	await slots(40);
	await follow();
	expect(await states([order], "fill")).toEqual(["done"]);
	expect(await balance(recipient)).toBe(9_950_000n);
	expect(await changesOf(order)).toBe(1);
});

test("a restored store records transactions that it lost, regardless of what its jobs request", async () => {
	const [paid, voided] = [await queuePayout(), await queueVoid()];
	await runLane();
	await slots(40);
	await forget();
	// The jobs are those of a store so old that it requests the opposite.
	await scene.owner.query("truncate jobs");
	await queueWork(pool, paid.order, { kind: "void", payload: {} });
	await queueWork(pool, voided.order, { kind: "fill", payload: { delivery: payout } });
	await start()();
	await follow();
	expect(await eventsOf(paid.order)).toContain("Filled");
	expect(await eventsOf(voided.order)).toContain("Voided");
	expect(await states([paid.order], "void")).toEqual(["queued"]);
	const refused = { state: "refused", reason: "too_late" };
	expect(await readJob(pool, voided.swapId, "fill")).toMatchObject(refused);
	expect(await outcomeOf(paid.order)).toBe("filled");
	expect(await outcomeOf(voided.order)).toBe("voided");
});

test.each([
	["fill", "refund"],
	["refund", "fill"],
] as const)(
	"within Solana, if independent lanes send a %s and a %s, only the first one takes effect",
	async (...kinds) => {
		const { order, wallet } = await lanes.openByStranger(await lanes.within());
		const queue = (kind: (typeof kinds)[number]) =>
			queueWork(
				pool,
				order,
				kind === "fill" ? { kind, payload: { delivery: payout } } : { kind, payload: { attested: false } },
			);
		for (const kind of kinds) {
			await queue(kind);
			await runLane();
			expect(await states([order], kind)).toEqual(["sent"]);
			await scene.owner.query("truncate jobs, lane_transactions");
		}
		await slots(3);
		const isPaid = kinds[0] === "fill";
		expect(await outcomeOf(order)).toBe(isPaid ? "released, paid" : "refunded, paid");
		expect(await balance(wallet.address)).toBe(isPaid ? 0n : 10_000_000n);

		// Lanes of a restored store find how the order was decided, regardless of what their jobs request.
		for (const kind of kinds) await queue(kind);
		await slots(40);
		await start()();
		await finish();
		expect(await states([order], kinds[0])).toEqual(["done"]);
		expect(await states([order], kinds[1])).toEqual([isPaid ? "queued" : "refused"]);
		expect(await changesOf(order)).toBe(2);
	},
);

test("an op that landed unobserved is recorded, even if the lane checks much later", async () => {
	const { order } = await queueOpen();
	await runLane();
	await slots(3);
	await forget();
	await slots(250);
	await start()();
	await slots(3);
	await follow();
	expect(await states([order], "open")).toEqual(["done"]);
	expect(await eventsOf(order)).toContain("Opened");
});

test("an order that was never opened is confirmed as unopened once its deadline is final", async () => {
	const wallet = await newSolanaWallet(scene);
	const terms = { wallet: toSolanaWord(wallet.address), deadlines: lanes.deadlines() };
	await saveSwap(depositOrder(scene, terms));
	await passTime(301);
	await follow();
	const { rows } = await pool.query<{ compared: number; unseen: Buffer[] }>(
		"select compared_timestamp as compared, unseen_orders as unseen from chain_heads where chain_id = $1",
		[chain.chainId],
	);
	expect(rows[0]?.compared).toBeGreaterThan(Math.floor(lanes.nowMs() / 1_000) - 60);
	expect(rows[0]?.unseen).toEqual([]);
});

test.each(Array.from({ length: process.env.GEOSWAP_FULL ? 100 : 4 }, (_, seed) => seed))(
	"each order is decided once and paid once, regardless of faults and their order (%i)",
	(seed) => payThroughFaults(lanes, seed),
	60_000,
);
