import { randomBytes } from "node:crypto";
import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	greater,
	newSwapUuid,
	type Order,
	orderId,
	toSwapKey,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import { pino } from "pino";
import { hexToBytes, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache } from "../../../test/desk/test-prices.ts";
import { orderActions } from "../../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { sameAsBefore } from "../../../test/swap/swap-scene.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import type { Config } from "../../config/config.ts";
import { noteRestore } from "../../database/restores.ts";
import { deskChains } from "../../desk/desk-chain.ts";
import { refundWorth } from "../../desk/refund-worth.ts";
import { advance } from "../../follow/evm/advance.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { createRound } from "../run-round.ts";
import { rebuildOrders } from "./rebuild-orders.ts";

const log = pino({ level: "silent" });
const dayMs = 86_400_000;
const hostileOrders = 40;
/** Refunds of hostile orders that a day's budget pays for. */
const perDay = 5;

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
let config: Config;
let worthOf: (order: Order) => ReturnType<typeof refundWorth>;
/** The time of the budget. The chains have separate clocks. */
let nowMs = Date.now();

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = orderActions(chains);
	config = testConfig(chains);
	const prices = await Promise.all([chains.origin, chains.destination].map((chain) => readTestPrices(chain)));
	const pricedAtMs = Date.now();
	const priceCache = testPriceCache(config, prices, { nowMs: pricedAtMs });
	worthOf = (order) => refundWorth(order, { chains: deskChains(config), priceCache, nowMs: pricedAtMs });
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function followAll(): Promise<void> {
	await actions.finalize();
	const engine = { poke: async () => {} };
	for (const chain of [chains.origin, chains.destination]) {
		while (await advance({ chain: connectChain(chain), pool: database.pool, engine, relayers: [], log }));
	}
}

async function pass(time: bigint): Promise<void> {
	const passOn = ({ testClient }: TestChain) =>
		testClient.setNextBlockTimestamp({ timestamp: time + 1n }).catch(() => {});
	await Promise.all([chains.origin, chains.destination].map(passOn));
	await followAll();
}

/** Rebuilds as often as a worker would in a while. */
async function rebuild(): Promise<number> {
	let rebuilt = 0;
	for (let calls = 0; calls < 3; calls++) {
		const engine = { poke: async () => {} };
		rebuilt += await rebuildOrders({
			config,
			pool: database.pool,
			engine,
			worthOf,
			nowMs: () => nowMs,
			log,
		});
	}
	return rebuilt;
}

/** Runs rounds until nothing is due, at the time of the chains. Returns how many swaps they handled. */
async function runRounds(): Promise<number> {
	const { timestamp } = await chains.origin.publicClient.getBlock();
	const round = createRound({
		config,
		pool: database.pool,
		desk: sameAsBefore,
		poke: async () => {},
		nowMs: () => Number(timestamp) * 1_000,
		log,
	});
	let looks = 0;
	for (;;) {
		const { ran, hasMore } = await round();
		looks += ran;
		if (!hasMore) return looks;
	}
}

async function makeOrder(change: Partial<Order> = {}): Promise<Order> {
	const order = await actions.makeOrder({ stepSeconds: 60n });
	const quotedAt = Number(unpackDeadlines(order.deadlines).openDeadline) - 61;
	const swapKey = toSwapKey(newSwapUuid({ nowMs: quotedAt * 1_000, random: randomBytes(10) }));
	return { ...order, swapKey, ...change };
}

const swapOf = (order: Order) => readSwap(database.pool, fromSwapKey(order.swapKey));

async function waitsOf(orders: readonly Order[]): Promise<number> {
	const { rowCount } = await database.pool.query("select from waits where order_id = any($1)", [
		orders.map((order) => Buffer.from(hexToBytes(orderId(order)))),
	]);
	return rowCount ?? 0;
}

/** Opens orders of the minimum native amount that is worth a refund. */
async function openHostile(count: number): Promise<Order[]> {
	const isWorth = (inputAmount: bigint) =>
		worthOf({ ...base, inputToken: toWord(zeroAddress), inputAmount })?.isWorth === true;
	const base = await makeOrder();
	let inputAmount = 10n ** 9n;
	while (!isWorth(inputAmount)) inputAmount *= 2n;
	const orders: Order[] = [];
	for (let i = 0; i < count; i++) {
		const order = await makeOrder({ inputToken: toWord(zeroAddress), inputAmount });
		await actions.open(order);
		orders.push(order);
	}
	return orders;
}

test("refunds of third parties' orders count against the day's budget, a large order that comes later is next, and their credits cost no reads", async () => {
	const hostile = await openHostile(hostileOrders);
	const [first] = hostile;
	const last = hostile.at(-1);
	if (!first || !last) throw new Error("there are orders");
	const costMicroUsd = worthOf(first)?.costMicroUsd ?? 0n;
	expect(costMicroUsd).toBeGreaterThan(0n);
	config.limits.rebuiltRefundsUsdPerDay = (Number(costMicroUsd) * perDay) / 1e6;
	await pass(unpackDeadlines(last.deadlines).openDeadline);
	expect(await rebuild()).toBe(perDay);
	expect(await rebuild()).toBe(0);

	// A caller's order whose row was lost, worth more than each of theirs, while nearly all of theirs still wait.
	const genuine = await makeOrder();
	expect(worthOf(genuine)?.valueUsdCents).toBeGreaterThan(worthOf(first)?.valueUsdCents ?? 0n);
	await actions.open(genuine);
	await pass(unpackDeadlines(genuine.deadlines).openDeadline);
	expect(await rebuild()).toBe(0);
	nowMs += dayMs / perDay;
	expect(await rebuild()).toBe(1);
	expect(await swapOf(genuine)).toMatchObject({ orderId: orderId(genuine) });

	// The rest follows at the same pace, and no faster after a long time.
	nowMs += dayMs;
	expect(await rebuild()).toBe(perDay);
	nowMs += 7 * dayMs;
	expect(await rebuild()).toBe(perDay);

	const isRebuilt = await Promise.all(hostile.map(async (order) => (await swapOf(order)) !== undefined));
	const rebuilt = hostile.filter((_, i) => isRebuilt[i]);
	expect(rebuilt).toHaveLength(3 * perDay);
	await pass(unpackDeadlines(genuine.deadlines).fillDeadline);
	await runRounds();
	const { rows: jobs } = await database.pool.query(
		"select kind, count(*)::int as count from jobs group by kind",
	);
	expect(jobs).toEqual([{ kind: "refund", count: rebuilt.length + 1 }]);

	// The wallet burns all gas that it is paid with. Each refund costs us at most what the budget was charged.
	const { testClient, publicClient } = chains.origin;
	await testClient.setCode({ address: actions.wallet.address, bytecode: "0xfe" });
	const receipts = [];
	for (const order of [...rebuilt, genuine]) receipts.push(await actions.decide("Refund", order));
	const gas = receipts.slice(0, -1).map(({ gasUsed }) => gasUsed);
	const maxGas = gas.reduce(greater);
	expect(maxGas).toBeLessThanOrEqual(65_915n + 75_000n);
	const unbounded = Number(maxGas) * 36_000;
	console.log(
		`a refused refund costs ${maxGas} gas. 36,000 at once: ${unbounded / 1e9} billion gas, ${((unbounded * 1e9 * 3_000) / 1e18).toFixed(0)} USD at 1 gwei and 3,000 USD an ether. With the budget: 50 USD a day, twice that on the first.`,
	);
	expect(await publicClient.getBalance({ address: actions.wallet.address })).toBeLessThan(10n ** 18n);

	// Swaps whose refund became a credit end as they are. The genuine order's token was paid.
	await followAll();
	await runRounds();
	expect(await waitsOf([...rebuilt, genuine])).toBe(0);
	expect(await swapOf(genuine)).toMatchObject({ status: "refunded" });
	for (const order of rebuilt)
		expect(await swapOf(order)).toMatchObject({ status: "pending", stage: "refunding" });
	await database.owner.query("update waits set due_at = now()");
	expect(await runRounds()).toBe(0);
});

test("orders that third parties refund themselves get no swap, regardless of their number, unless a restore may have lost it", async () => {
	const { limits } = config;
	config = { ...config, limits: { ...limits, rebuiltRefundsUsdPerDay: 0 } };
	try {
		const hostile = await openHostile(20);
		const last = hostile.at(-1);
		if (!last) throw new Error("no order was opened");
		await pass(unpackDeadlines(last.deadlines).openDeadline);
		expect(await rebuild()).toBe(0);
		await pass(unpackDeadlines(last.deadlines).refundAfter);
		for (const order of hostile) await actions.decide("Refund", order);
		await followAll();
		expect(await rebuild()).toBe(0);
		const { rows } = await database.pool.query(
			"select outcome, count(*)::int from unknown_orders where order_id = any($1) group by 1",
			[hostile.map((order) => Buffer.from(hexToBytes(orderId(order))))],
		);
		expect(rows).toEqual([{ outcome: "left", count: 20 }]);

		const [lost] = await openHostile(1);
		if (!lost) throw new Error("no order was opened");
		const { timestamp } = await chains.origin.publicClient.getBlock();
		await noteRestore(database.owner, { nowMs: Number(timestamp) * 1_000 });
		await pass(unpackDeadlines(lost.deadlines).refundAfter);
		await actions.decide("Refund", lost);
		await followAll();
		expect(await rebuild()).toBe(1);
		expect(await swapOf(lost)).toBeDefined();
	} finally {
		config = { ...config, limits };
	}
}, 300_000);
