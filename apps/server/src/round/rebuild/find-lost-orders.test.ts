import { randomBytes, randomUUID } from "node:crypto";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import {
	closeOrder,
	decideOrders,
	fromSwapKey,
	fundOrder,
	newSwapUuid,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	orderToJson,
	payOrder,
	prepareOrder,
	toSolanaWord,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { markPrices } from "../../../test/audit/mark-prices.ts";
import { testConfig, withSolana } from "../../../test/desk/test-prices.ts";
import { depositOrder, newSolanaWallet, signSolanaOp } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes, errorLog, quietLog, type SolanaLanes } from "../../../test/lane/solana-lanes.ts";
import { noteSigned } from "../../../test/order/note-signed.ts";
import { assetAddress, orderActions } from "../../../test/order/order-actions.ts";
import { floodAddresses } from "../../../test/solana/flood-addresses.ts";
import { laggingSolana } from "../../../test/solana/lagging-solana.ts";
import { sameAsBefore } from "../../../test/swap/swap-scene.ts";
import { adoptSwap } from "../../api/submit/adopt-swap.ts";
import { reconcile } from "../../audit/reconcile.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { sendRaw } from "../../chain/solana/send/send-raw.ts";
import { coSignOrder } from "../../chain/solana/wallet/co-sign-order.ts";
import type { Config } from "../../config/config.ts";
import { noteRestore } from "../../database/restores.ts";
import { advance } from "../../follow/evm/advance.ts";
import { storeAttestation } from "../../job/attestations.ts";
import { markAllDue } from "../../swap/due/mark-swaps.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { createRound } from "../run-round.ts";
import { createLostOrderSearch } from "./find-lost-orders.ts";
import { rebuildOrders } from "./rebuild-orders.ts";

// The search, the rebuilding, the rounds, the lane and the follower, as they work together on the real program.

const inputAmount = 10_000_000n;
const delivered = 9_950_000n;

let chains: TestChains;
let lanes: SolanaLanes;
let actions: ReturnType<typeof orderActions>;
let config: Config;
let stranger: KeyPairSigner;

beforeAll(async () => {
	[chains, lanes] = await Promise.all([startTestChains(), createSolanaLanes({ follower: "real" })]);
	actions = orderActions(chains);
	config = withSolana(testConfig(chains), lanes.chain);
	stranger = lanes.stranger;
	await followAll();
	await markPrices(lanes.owner);
});
afterAll(async () => {
	await lanes?.stop();
	await chains?.stop();
});
beforeEach(async () => {
	await lanes.owner.query("delete from restores");
});

async function followAll(): Promise<void> {
	await noteSigned(lanes.owner, actions.fills);
	await actions.finalize();
	const common = { pool: lanes.pool, engine: { poke: async () => {} }, relayers: [], log: quietLog };
	for (const chain of [chains.origin, chains.destination]) {
		while (await advance({ ...common, chain: connectChain(chain) }));
	}
	// The first run finds transactions that the database does not have, and the second books them.
	for (let looks = 0; looks < 2; looks++) {
		await lanes.slots(40);
		await lanes.follow();
	}
}

async function passTime(seconds: number): Promise<void> {
	await lanes.passTime(seconds);
	for (const { testClient } of [chains.origin, chains.destination])
		await testClient.increaseTime({ seconds });
	await followAll();
}

/** Searches as a worker does that was just started. */
async function search(chain: SolanaChain = lanes.chain, log = quietLog): Promise<void> {
	await createLostOrderSearch(chain)({ pool: lanes.pool, nowMs: lanes.nowMs, log });
}

function rebuild(): Promise<number> {
	return rebuildOrders({
		config,
		pool: lanes.pool,
		engine: { poke: async () => {} },
		worthOf: (order) => ({
			valueUsdCents: order.inputAmount / 10_000n,
			isWorth: order.inputAmount >= inputAmount,
			costMicroUsd: 1n,
		}),
		readSolanaOutcomes: async (orderIds) => orderIds.map(() => "none"),
		nowMs: lanes.nowMs,
		log: quietLog,
	});
}

async function runRounds(): Promise<void> {
	// The database keeps its own time, by which nothing would be due.
	await markAllDue(lanes.owner);
	const poke = async () => {};
	const { pool, nowMs } = lanes;
	const round = createRound({ config, pool, desk: sameAsBefore, poke, nowMs, log: quietLog });
	while ((await round()).hasMore);
}

/** Runs the followers, rounds and the lane, until the lane's transactions are final. */
async function work(): Promise<void> {
	await followAll();
	await runRounds();
	await lanes.runLane();
	await lanes.slots(3);
	await followAll();
	await runRounds();
}

/** Returns an order from Solana to an EVM chain, of a new wallet, which is quoted now. */
async function makeOrder(given: Partial<Order> = {}): Promise<{ order: Order; wallet: KeyPairSigner }> {
	const amount = given.inputAmount ?? inputAmount;
	const wallet = await newSolanaWallet(lanes.scene, [{ symbol: "USDC", amount }]);
	const { destination } = chains;
	const order = depositOrder(lanes.scene, {
		destinationChainId: BigInt(destination.chainId),
		destinationVault: toWord(destination.deployment.contracts.vault),
		outputToken: toWord(assetAddress(destination, "USDC")),
		minOutput: 1_000n,
		recipient: toWord(actions.wallet.address),
		deadlines: lanes.deadlines(),
		swapKey: toSwapKey(newSwapUuid({ nowMs: lanes.nowMs(), random: randomBytes(10) })),
		...given,
		wallet: toSolanaWord(wallet.address),
	});
	return { order, wallet };
}

/** Returns an order that our fee payer opened, in a transaction that the database does not have. */
async function openLost(given: Partial<Order> = {}): Promise<{ order: Order; wallet: KeyPairSigner }> {
	const { chain, keys } = lanes;
	const [feePayerKey] = keys.feePayers;
	if (!feePayerKey) throw new Error("there is no fee payer");
	const { order, wallet } = await makeOrder(given);
	const op = await signSolanaOp(lanes.scene, { order, wallet, feePayer: feePayerKey.address });
	const { raw } = await coSignOrder({ deployment: chain.deployment, order, op, feePayerKey });
	await sendRaw(chain, raw);
	await lanes.slots(3);
	expect(await lanes.outcomeOf(order)).toBe("opened");
	return { order, wallet };
}

/** Returns an order that a stranger opened. */
async function openStrangers(given: Partial<Order> = {}): Promise<Order> {
	const { order, wallet } = await makeOrder(given);
	const { address } = lanes.chain.deployment.program;
	await lanes.land(
		await prepareOrder(address, order, stranger),
		await fundOrder(address, order, { wallet, decimals: 6 }),
		await openOrder(address, order),
	);
	return order;
}

async function noteRestored(): Promise<void> {
	await noteRestore(lanes.owner, { nowMs: lanes.nowMs() });
	await followAll();
}

async function isSearched(): Promise<boolean> {
	const { rows } = await lanes.pool.query("select searched_at from restores order by at desc limit 1");
	return rows[0]?.searched_at instanceof Date;
}

async function unknownOf(order: Order): Promise<Record<string, unknown> | undefined> {
	const { rows } = await lanes.pool.query(
		"select outcome, reason, is_filled from unknown_orders where order_id = $1",
		[hexToBytes(orderId(order))],
	);
	return rows[0];
}

const swapOf = (order: Order) => readSwap(lanes.pool, fromSwapKey(order.swapKey));

async function attest(kind: "release" | "refund", order: Order): Promise<void> {
	await storeAttestation(lanes.pool, {
		id: randomUUID(),
		chainId: lanes.chain.chainId,
		kind: kind === "release" ? "Release" : "Refund",
		set: lanes.chain.deployment.program.attesterSet,
		signatures: await lanes.attest(kind, order),
		orderIds: [orderId(order)],
	});
}

/** Returns the tokens that a wallet holds. */
const held = ({ address }: KeyPairSigner) => lanes.balance(address);

async function rentsOf(order: Order): Promise<unknown[]> {
	const { rows } = await lanes.pool.query<{ lamports: bigint; is_back: boolean }>(
		"select lamports, returned_at is not null as is_back from rents where order_id = $1",
		[hexToBytes(orderId(order))],
	);
	return rows;
}

/** Has the worker fetch all rents, as if enough time had passed on the clock of the database too. */
async function sweep(): Promise<void> {
	await lanes.owner.query("update rents set closable_at = now() - interval '2 minutes'");
	await lanes.runLane();
	await lanes.slots(3);
	await followAll();
}

async function audit() {
	await followAll();
	const { breaches } = await reconcile({
		pool: lanes.owner,
		chains: [chains.origin, chains.destination],
		solana: lanes.solana,
		earlierAttesterSets: [],
		nowMs: lanes.nowMs(),
	});
	return breaches;
}

/** Counts the requests to the chain. */
function counting(chain: SolanaChain): { chain: SolanaChain; calls: string[] } {
	const calls: string[] = [];
	const rpc = new Proxy(chain.rpc, {
		get: (target, name, receiver) => {
			calls.push(String(name));
			return Reflect.get(target, name, receiver);
		},
	});
	return { chain: { ...chain, rpc }, calls };
}

test("an order that was delivered before a restore is released after it, its rent comes back, and the books are exact", async () => {
	const { order, wallet } = await openLost();
	await actions.fill(order, delivered);
	await noteRestored();
	await search();
	expect(await unknownOf(order)).toEqual({ outcome: null, reason: null, is_filled: true });
	// Its caller can still submit it for the first time.
	expect(await rebuild()).toBe(0);
	await passTime(301);
	const rebuiltAtMs = Date.now();
	expect(await rebuild()).toBe(1);
	// A round may handle it before the follower has written its events. It then counts as new, and not as never opened.
	await runRounds();
	expect((await swapOf(order))?.endedAt).toBeUndefined();
	expect((await swapOf(order))?.createdAt.getTime()).toBeGreaterThanOrEqual(rebuiltAtMs);
	await work();
	expect(await swapOf(order)).toMatchObject({ status: "settled", deliveredAmount: delivered });
	expect((await swapOf(order))?.endedAt).toBeUndefined();
	expect(await lanes.eventsOf(order)).toEqual(expect.arrayContaining(["Opened", "RentPaid"]));
	expect(await lanes.states([order], "release")).toEqual(["unattested"]);
	await attest("release", order);
	await work();
	expect(await lanes.outcomeOf(order)).toBe("released, paid");
	expect((await swapOf(order))?.endedAt).toBeInstanceOf(Date);
	expect(await rentsOf(order)).toEqual([{ lamports: 4_600_560n, is_back: false }]);
	await sweep();
	expect(await rentsOf(order)).toEqual([{ lamports: 4_600_560n, is_back: true }]);
	expect(await held(wallet)).toBe(0n);
	expect(await audit()).toEqual([]);
});

test("an order that was not delivered is refunded after its fill deadline, and not before", async () => {
	const { order, wallet } = await openLost();
	await noteRestored();
	await search();
	await passTime(301);
	expect(await rebuild()).toBe(1);
	await work();
	expect(await swapOf(order)).toMatchObject({ status: "pending", stage: "refunding", givingUp: "TOO_LATE" });
	const jobs = "select kind from jobs where order_id = $1";
	expect((await lanes.pool.query(jobs, [hexToBytes(orderId(order))])).rows).toEqual([]);
	await passTime(600);
	await work();
	await attest("refund", order);
	await work();
	expect(await lanes.outcomeOf(order)).toBe("refunded, paid");
	expect(await held(wallet)).toBe(inputAmount);
	expect(await swapOf(order)).toMatchObject({ status: "refunded" });
	await sweep();
	expect(await audit()).toEqual([]);
});

test("an order within Solana that was not delivered is refunded", async () => {
	const { order, wallet } = await openLost(await lanes.within());
	await noteRestored();
	await search();
	await passTime(301);
	expect(await rebuild()).toBe(1);
	await work();
	expect(await lanes.outcomeOf(order)).toBe("refunded, paid");
	expect(await held(wallet)).toBe(inputAmount);
	await sweep();
	expect(await audit()).toEqual([]);
});

test("an order whose rent a third party paid is found as well", async () => {
	const order = await openStrangers();
	await actions.fill(order, delivered);
	await noteRestored();
	await search();
	await passTime(301);
	expect(await rebuild()).toBe(1);
	await work();
	await attest("release", order);
	await work();
	expect(await lanes.outcomeOf(order)).toBe("released, paid");
	// The stranger's rent is not in our books.
	expect(await rentsOf(order)).toEqual([]);
	expect(await audit()).toEqual([]);
});

test("third parties' orders that do not belong to the service, or are too small, are left, and leave nothing in the books", async () => {
	const foreign = await openStrangers({ attesterSet: `0x${"a7".repeat(32)}` });
	const small = await openStrangers({ inputAmount: 9_999_999n });
	const { order: prepared } = await makeOrder();
	const { program } = lanes.chain.deployment;
	await lanes.land(await prepareOrder(program.address, prepared, stranger));
	await noteRestored();
	await search();
	expect(await unknownOf(prepared)).toBeUndefined();
	await passTime(301);
	await rebuild();
	expect(await unknownOf(small)).toMatchObject({ outcome: null });
	await passTime(4_000);
	await rebuild();
	expect(await unknownOf(foreign)).toMatchObject({
		outcome: "left",
		reason: "the attester set is not the service's",
	});
	expect(await unknownOf(small)).toMatchObject({
		outcome: "left",
		reason: "its input is worth less than ten refunds",
	});
	for (const order of [foreign, small, prepared]) {
		expect(await swapOf(order)).toBeUndefined();
		expect(await lanes.eventsOf(order)).toEqual([]);
	}
	expect(await audit()).toEqual([]);
});

test("an order that was released and paid becomes a settled swap while its account still holds rent, and is ignored once it is closed", async () => {
	const { program, feePayers } = lanes.chain.deployment;
	const [feePayer] = feePayers;
	const paid: Order[] = [];
	for (let i = 0; i < 2; i++) {
		const { order } = await openLost();
		await actions.fill(order, delivered);
		const signatures = await lanes.attest("release", order);
		const decided = { orderIds: [orderId(order)], set: program.attesterSet, signatures };
		await lanes.land(
			await decideOrders(program.address, "Release", decided),
			await payOrder(program.address, order, { to: "vault" }),
		);
		paid.push(order);
	}
	const [kept, closed] = paid as [Order, Order];
	await passTime(301);
	await lanes.land(await closeOrder(program.address, orderId(closed), feePayer as never));
	await noteRestored();
	await search();
	expect(await unknownOf(closed)).toBeUndefined();
	expect(await unknownOf(kept)).toMatchObject({ is_filled: true });
	expect(await rebuild()).toBe(1);
	await work();
	expect(await swapOf(kept)).toMatchObject({ status: "settled" });
	expect((await swapOf(kept))?.endedAt).toBeInstanceOf(Date);
	await sweep();
	expect(await rentsOf(kept)).toEqual([expect.objectContaining({ is_back: true })]);
	// The audit reports the cost of the closed order, and pauses nothing for it.
	expect((await audit()).filter(({ pauses }) => pauses !== false)).toEqual([]);
});

test("an order that is submitted again before it is rebuilt gets no second swap, and a rebuilt one is assigned to the submitting account", async () => {
	const { order: submitted } = await openLost();
	const { order: rebuilt } = await openLost();
	await noteRestored();
	await search();
	const accountId = randomUUID();
	await lanes.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, $4, 1, 1000, '{"kind":"inventory","amount":"1"}')`,
		[fromSwapKey(submitted.swapKey), accountId, hexToBytes(orderId(submitted)), orderToJson(submitted)],
	);
	await passTime(301);
	expect(await rebuild()).toBe(1);
	expect(await unknownOf(submitted)).toMatchObject({ outcome: "submitted" });
	await adoptSwap(lanes.pool, { id: fromSwapKey(rebuilt.swapKey), accountId });
	await search();
	expect(await rebuild()).toBe(0);
	for (const order of [submitted, rebuilt]) {
		expect((await swapOf(order))?.accountId).toBe(accountId);
		const all = "select from swaps where order_id = $1";
		expect((await lanes.pool.query(all, [hexToBytes(orderId(order))])).rowCount).toBe(1);
	}
});

test("nothing is read from the chain without a restore, or once no transaction signed before it can land any more", async () => {
	const { chain, calls } = counting(lanes.chain);
	await search(chain);
	expect(calls).toEqual([]);
	await noteRestored();
	await search(chain);
	expect(calls).not.toEqual([]);
	expect(await isSearched()).toBe(false);
	await passTime(601);
	await search(chain);
	expect(await isSearched()).toBe(true);
	const count = calls.length;
	await search(chain);
	expect(calls).toHaveLength(count);
});

test("while no node returns the transaction that prepared an order, the search continues", async () => {
	const { order } = await openLost();
	await noteRestored();
	await passTime(601);
	const { log, errors } = errorLog();
	await search(laggingSolana(lanes.chain, { first: Number.MAX_SAFE_INTEGER }), log);
	expect(errors).toContainEqual(expect.objectContaining({ orderId: orderId(order) }));
	expect([await unknownOf(order), await isSearched()]).toEqual([undefined, false]);
	await search();
	expect([await unknownOf(order), await isSearched()]).toEqual([expect.anything(), true]);
});

test("an order is found even if third parties name its account in many transactions, before and after it is opened", async () => {
	const { order, wallet } = await makeOrder();
	const { chain, keys, solana } = lanes;
	const address = await orderAddress(chain.deployment.program.address, orderId(order));
	await floodAddresses(solana, { addresses: [address], count: 30 });
	const [feePayerKey] = keys.feePayers;
	if (!feePayerKey) throw new Error("there is no fee payer");
	const op = await signSolanaOp(lanes.scene, { order, wallet, feePayer: feePayerKey.address });
	await sendRaw(chain, (await coSignOrder({ deployment: chain.deployment, order, op, feePayerKey })).raw);
	await lanes.slots(3);
	await floodAddresses(solana, { addresses: [address], count: 60 });
	await noteRestored();
	await search();
	expect(await unknownOf(order)).toMatchObject({ outcome: null });
	await passTime(361);
	await floodAddresses(solana, { addresses: [address], count: 300 });
	await lanes.owner.query("delete from unknown_orders where order_id = $1", [hexToBytes(orderId(order))]);
	await followAll();
	await search();
	expect(await unknownOf(order)).toMatchObject({ outcome: null });
});
