import { randomBytes } from "node:crypto";
import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	toSwapKey,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import { pino } from "pino";
import { type Address, hexToBytes, pad } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { orderActions } from "../../test/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { readTestPrices, testBook, testConfig } from "../../test/test-prices.ts";
import { connectChain } from "../chain/evm/chain-client.ts";
import type { Config } from "../config.ts";
import { advance } from "../follow/advance.ts";
import type { PriceBook } from "../price/price-book.ts";
import { readSwap } from "../store/read-swap.ts";
import { deskChains } from "../venue/desk-chain.ts";
import { refundWorth } from "../venue/refund-worth.ts";
import { rebuildOrders } from "./rebuild-orders.ts";

const log = pino({ level: "silent" });
const stranger: Address = "0x00000000000000000000000000000000000000aa";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
let config: Config;
let book: PriceBook;
let pricedAtMs = 0;
let hasPrices = true;
let started: [string, number | undefined][] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = orderActions(chains);
	config = testConfig(chains);
	const prices = await Promise.all([chains.origin, chains.destination].map((chain) => readTestPrices(chain)));
	pricedAtMs = Date.now();
	book = testBook(config, prices, { nowMs: pricedAtMs });
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});
beforeEach(() => {
	hasPrices = true;
	started = [];
});

async function follow(chain: TestChain): Promise<void> {
	const nobody = async () => {};
	const engine = { startSwap: nobody, raise: nobody, poke: nobody };
	while (await advance({ chain: connectChain(chain), pool: database.pool, engine, relayers: [], log }));
}

async function followAll(): Promise<void> {
	await actions.finalize();
	await follow(chains.origin);
	await follow(chains.destination);
}

function rebuild(): Promise<number> {
	const priced = deskChains(config);
	return rebuildOrders({
		config,
		pool: database.pool,
		engine: { startSwap: async (id, execution) => void started.push([id, execution]) },
		worthOf: (order) =>
			hasPrices ? refundWorth(order, { chains: priced, book, nowMs: pricedAtMs }) : undefined,
		nowMs: Date.now,
		log,
	});
}

/** Opens it, and lets the time pass in which it could have been submitted. */
async function forget(change: Partial<Order> = {}): Promise<Order> {
	const order = { ...(await actions.makeOrder({ stepSeconds: 60n })), ...change };
	await actions.open(order);
	await passOpenDeadline(order);
	return order;
}

async function passOpenDeadline(order: Order): Promise<void> {
	const { openDeadline } = unpackDeadlines(order.deadlines);
	await chains.origin.testClient.setNextBlockTimestamp({ timestamp: openDeadline + 1n }).catch(() => {});
	await followAll();
}

async function outcomeOf(
	order: Order,
): Promise<{ outcome: string | null; reason: string | null } | undefined> {
	const { rows } = await database.pool.query(
		"select outcome, reason from unknown_orders where order_id = $1",
		[hexToBytes(orderId(order))],
	);
	return rows[0];
}

const swapOf = (order: Order) => readSwap(database.pool, fromSwapKey(order.swapKey));

test("an order of ours that has no row gets one, without account, op, reservation or job, and is started anew", async () => {
	const order = await forget();
	expect(await rebuild()).toBe(1);
	const swap = await swapOf(order);
	expect(swap).toMatchObject({ orderId: orderId(order), order, status: "pending", stage: "opening" });
	expect(swap?.accountId).toBeUndefined();
	expect(swap?.op).toBeUndefined();
	// 10 USDC.
	expect(swap?.valueUsdCents).toBeGreaterThan(900n);
	const { rows } = await database.pool.query(
		`select (select count(*) from reservations) as reservations, (select count(*) from jobs) as jobs,
			(select execution from waits where swap_id = $1) as execution`,
		[swap?.id],
	);
	expect(rows[0]).toMatchObject({ reservations: 0, jobs: 0 });
	// An engine that remembers the swap's first execution starts this one all the same.
	expect(rows[0].execution).toBeGreaterThan(1_000);
	expect(started).toEqual([[swap?.id, rows[0].execution]]);
	expect(await outcomeOf(order)).toEqual({ outcome: "rebuilt", reason: null });
	expect(await rebuild()).toBe(0);
});

test("an order is not rebuilt while somebody may still submit it", async () => {
	const order = await actions.makeOrder({ stepSeconds: 600n });
	await actions.open(order);
	await followAll();
	expect(await outcomeOf(order)).toEqual({ outcome: null, reason: null });
	expect(await rebuild()).toBe(0);
	expect(await swapOf(order)).toBeUndefined();
	await passOpenDeadline(order);
	expect(await rebuild()).toBe(1);
});

test("an order that has a row is not noted, and one that was submitted since stays as it is", async () => {
	const known = await actions.makeOrder({ stepSeconds: 60n });
	const insert = (order: Order) =>
		database.pool.query(
			`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery)
			values ($1, gen_random_uuid(), $2, $3, 1, 1, '{"kind":"stock","amount":"1"}')`,
			[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order)],
		);
	await insert(known);
	await actions.open(known);
	await passOpenDeadline(known);
	expect(await outcomeOf(known)).toBeUndefined();

	const late = await forget();
	await insert(late);
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(late)).toMatchObject({ outcome: "submitted" });
	expect((await swapOf(late))?.accountId).toBeDefined();
});

test("orders that name a vault, a set, an asset, a chain or a key that is not ours are left to their wallets", async () => {
	const cases: [Partial<Order>, string][] = [
		[{ originVault: toWord(stranger) }, "the origin vault is not ours"],
		[{ destinationVault: toWord(stranger) }, "the destination vault is not ours"],
		[{ attesterSet: pad("0x5e") }, "the attester set is not ours"],
		[{ outputToken: toWord(stranger) }, "the output is no asset of ours"],
		[{ destinationChainId: 5n }, "a chain is not ours"],
		[{ swapKey: pad("0x01", { dir: "right" }) }, "its key is not that of a quote"],
		[
			{ swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now() - 3 * 86_400_000, random: randomBytes(10) })) },
			"its key is not that of a quote",
		],
	];
	const orders: Order[] = [];
	for (const [change] of cases) {
		const order = { ...(await actions.makeOrder({ stepSeconds: 60n })), ...change };
		await actions.open(order);
		orders.push(order);
	}
	const [last] = orders.slice(-1);
	if (last) await passOpenDeadline(last);
	expect(await rebuild()).toBe(0);
	const reasons = await Promise.all(orders.map(outcomeOf));
	expect(reasons).toEqual(cases.map(([, reason]) => ({ outcome: "left", reason })));

	// An input or an escrow that is not ours any more.
	const order = await forget();
	const [origin, ...others] = config.chains;
	if (!origin) throw new Error("there are chains");
	const { contracts, assets } = origin.deployment;
	const before = config;
	const swapDeployment = (deployment: object) => ({
		...before,
		chains: [{ ...origin, deployment: { ...origin.deployment, ...deployment } }, ...others],
	});
	try {
		config = swapDeployment({ contracts: { ...contracts, escrow: stranger } });
		expect(await rebuild()).toBe(0);
		expect(await outcomeOf(order)).toEqual({ outcome: "left", reason: "the escrow is not ours" });
		await database.pool.query("update unknown_orders set outcome = null where order_id = $1", [
			hexToBytes(orderId(order)),
		]);
		config = swapDeployment({ assets: assets.filter(({ symbol }) => symbol !== "USDC") });
		expect(await rebuild()).toBe(0);
		expect(await outcomeOf(order)).toEqual({ outcome: "left", reason: "the input is no asset of ours" });
	} finally {
		config = before;
	}
});

test("dust is left; what has no price waits, and keeps no other from being looked at", async () => {
	const dust = await forget({ inputAmount: 1n });
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(dust)).toMatchObject({ outcome: "left" });

	// What was delivered for it is ours to take, whatever it is.
	const filled = await actions.makeOrder({ stepSeconds: 60n });
	await actions.fill(filled, 9_000_000n);
	await actions.open(filled);
	hasPrices = false;
	await passOpenDeadline(filled);
	expect(await rebuild()).toBe(1);
	hasPrices = true;

	const order = await forget();
	hasPrices = false;
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(order)).toEqual({ outcome: null, reason: null });
	hasPrices = true;
	expect(await rebuild()).toBe(1);
});

test("an order under another one's id takes nothing from it, and is left", async () => {
	const order = await forget();
	expect(await rebuild()).toBe(1);
	const rival = await forget({ swapKey: order.swapKey, minOutput: 5n });
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(rival)).toEqual({ outcome: "left", reason: "another order's swap has its id" });
	expect((await swapOf(order))?.orderId).toBe(orderId(order));
});

test("a delivery that was booked before its deposit was known is booked to its recipient in the end, exactly", async () => {
	const order = await forget();
	const routed = { ...(await actions.makeOrder({ symbol: "WETH", stepSeconds: 600n })) };
	// The destination's follower is first.
	await actions.fill(routed, 9_000_000n, { poolFee: 500 });
	await actions.finalize();
	await follow(chains.destination);
	expect(await sums(routed)).toMatchObject({ recipient: 0n });
	await actions.open(routed);
	await passOpenDeadline(routed);
	expect(await rebuild()).toBe(2);
	const { rows } = await database.pool.query(
		"select data from chain_events where order_id = $1 and name = 'Filled'",
		[hexToBytes(orderId(routed))],
	);
	const delivered = BigInt(rows[0].data.delivered);
	expect(delivered).toBeGreaterThan(0n);
	expect(await sums(routed)).toEqual({ recipient: delivered, stock: -9_000_000n });
	expect(await sums(order)).toEqual({ recipient: 0n, stock: 0n });
	const { rows: unbalanced } = await database.pool.query(
		"select posting_id from entries group by posting_id, token having sum(amount) <> 0",
	);
	expect(unbalanced).toEqual([]);
});

async function sums(order: Order): Promise<{ recipient: bigint; stock: bigint }> {
	const { rows } = await database.pool.query<{ account: string; amount: bigint }>(
		`select account, sum(amount) as amount from entries join postings on id = posting_id
		where order_id = $1 and account in ('recipient', 'stock') group by account`,
		[hexToBytes(orderId(order))],
	);
	const of = (account: string) => rows.find((row) => row.account === account)?.amount ?? 0n;
	return { recipient: of("recipient"), stock: of("stock") };
}
