import { randomBytes } from "node:crypto";
import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	spareSwapUuid,
	toSolanaWord,
	toSwapKey,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import { pino } from "pino";
import { type Address, hexToBytes, pad } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache, withSolana } from "../../../test/desk/test-prices.ts";
import { orderActions } from "../../../test/order/order-actions.ts";
import { testSolanaDeployment } from "../../../test/order/test-solana-deployment.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { type EvmChainConfig, evmChains } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { noteRestore } from "../../database/restores.ts";
import { deskChains } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { type RefundWorth, refundWorth } from "../../desk/refund-worth.ts";
import { advance } from "../../follow/evm/advance.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { decideUnknownOrder } from "../../swap/record/unknown-orders.ts";
import { rebuildOrders, type SolanaOutcome } from "./rebuild-orders.ts";

const log = pino({ level: "silent" });
const stranger: Address = "0x00000000000000000000000000000000000000aa";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
let config: Config;
let priceCache: PriceCache;
let pricedAtMs = 0;
let hasPrices = true;
/** The orders with a record on Solana; undefined while its node does not answer. */
let records: Map<string, SolanaOutcome> | undefined = new Map();
let errors: unknown[] = [];
let poked: string[] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = orderActions(chains);
	config = testConfig(chains);
	const prices = await Promise.all([chains.origin, chains.destination].map((chain) => readTestPrices(chain)));
	pricedAtMs = Date.now();
	priceCache = testPriceCache(config, prices, { nowMs: pricedAtMs });
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});
beforeEach(() => {
	hasPrices = true;
	records = new Map();
	errors = [];
	poked = [];
});

async function follow(chain: TestChain): Promise<void> {
	const nobody = async () => {};
	const engine = { poke: nobody };
	while (await advance({ chain: connectChain(chain), pool: database.pool, engine, relayers: [], log }));
}

async function followAll(): Promise<void> {
	await actions.finalize();
	await follow(chains.origin);
	await follow(chains.destination);
}

function worthNow(order: Order): RefundWorth | undefined {
	if (!hasPrices) return undefined;
	return refundWorth(order, { chains: deskChains(config), priceCache, nowMs: pricedAtMs });
}

function rebuild({ worthOf = worthNow } = {}): Promise<number> {
	return rebuildOrders({
		config,
		pool: database.pool,
		engine: { poke: async ({ object }) => void poked.push(object) },
		worthOf,
		readSolanaOutcomes: async (orderIds) => {
			if (!records) throw new Error("the node does not answer");
			return orderIds.map((id) => records?.get(id) ?? "none");
		},
		nowMs: Date.now,
		log: pino(
			{ level: "error" },
			{ write: (line) => void errors.push((JSON.parse(line) as { msg: string }).msg) },
		),
	});
}

/** Opens an order, and lets the time pass in which it could have been submitted. */
async function forget(change: Partial<Order> = {}): Promise<Order> {
	const order = { ...(await makeOrder()), ...change };
	await actions.open(order);
	await passOpenDeadline(order);
	return order;
}

/** Returns an order that was quoted by the chain's time, which tests move. */
async function makeOrder({ stepSeconds = 60n, symbol = "USDC" } = {}): Promise<Order> {
	const order = await actions.makeOrder({ stepSeconds, symbol });
	const quotedAt = Number(unpackDeadlines(order.deadlines).openDeadline) - 61;
	const swapKey = toSwapKey(newSwapUuid({ nowMs: quotedAt * 1_000, random: randomBytes(10) }));
	return { ...order, swapKey };
}

async function passOpenDeadline(order: Order): Promise<void> {
	await passOn(chains.origin, unpackDeadlines(order.deadlines).openDeadline);
	await followAll();
}

/** Passes `refundAfter` on both chains, so that nothing can be delivered any more, and anyone may refund the order. */
async function passRefundAfter(order: Order): Promise<void> {
	const { refundAfter } = unpackDeadlines(order.deadlines);
	await passOn(chains.origin, refundAfter);
	await passOn(chains.destination, refundAfter);
	await followAll();
}

async function passOn({ testClient }: TestChain, time: bigint): Promise<void> {
	await testClient.setNextBlockTimestamp({ timestamp: time + 1n }).catch(() => {});
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

test("an order of the service without a row gets one, without account, op, reservation or job, and is due immediately", async () => {
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
			(select due_at <= now() from waits where swap_id = $1) as is_due`,
		[swap?.id],
	);
	expect(rows[0]).toMatchObject({ reservations: 0, jobs: 0, is_due: true });
	expect(poked).toEqual(["round"]);
	expect(await outcomeOf(order)).toEqual({ outcome: "rebuilt", reason: null });
	expect(await rebuild()).toBe(0);
});

test("an order is not rebuilt while it may still be submitted", async () => {
	const order = await makeOrder();
	await actions.open(order);
	await followAll();
	expect(await outcomeOf(order)).toEqual({ outcome: null, reason: null });
	expect(await rebuild()).toBe(0);
	expect(await swapOf(order)).toBeUndefined();
	await passOpenDeadline(order);
	expect(await rebuild()).toBe(1);
});

test("an order with a row is not recorded as unknown, and one submitted since then is left unchanged", async () => {
	const known = await makeOrder();
	const insert = (order: Order) =>
		database.pool.query(
			`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery)
			values ($1, gen_random_uuid(), $2, $3, 1, 1, '{"kind":"inventory","amount":"1"}')`,
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

test("orders with a foreign vault, set, asset, chain or key are left to their wallets", async () => {
	const cases: [Partial<Order>, string][] = [
		[{ originVault: toWord(stranger) }, "the origin vault is not the service's"],
		[{ destinationVault: toWord(stranger) }, "the destination vault is not the service's"],
		[{ attesterSet: pad("0x5e") }, "the attester set is not the service's"],
		[{ outputToken: toWord(stranger) }, "the output is not an asset of the service"],
		[{ destinationChainId: 5n }, "one of its chains is not the service's"],
		// Values that are no address, and no chain id that fits a number.
		[{ destinationVault: pad("0x01", { dir: "right" }) }, "the destination vault is not the service's"],
		[{ outputToken: pad("0x01", { dir: "right" }) }, "the output is not an asset of the service"],
		[{ destinationChainId: 0n }, "one of its chains is not the service's"],
		[{ destinationChainId: 2n ** 255n }, "one of its chains is not the service's"],
		[{ swapKey: pad("0x01", { dir: "right" }) }, "its swap key is not one of a quote"],
		[
			{ swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now() - 3 * 86_400_000, random: randomBytes(10) })) },
			"its swap key is not one of a quote",
		],
	];
	const orders: Order[] = [];
	for (const [change] of cases) {
		const order = { ...(await makeOrder()), ...change };
		await actions.open(order);
		orders.push(order);
	}
	const [last] = orders.slice(-1);
	if (last) await passRefundAfter(last);
	expect(await rebuild()).toBe(0);
	const reasons = await Promise.all(orders.map(outcomeOf));
	expect(reasons).toEqual(cases.map(([, reason]) => ({ outcome: "left", reason })));

	// The input or the escrow no longer belongs to the service.
	const order = await forget();
	await passRefundAfter(order);
	const [origin, ...others] = evmChains(config);
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
		expect(await outcomeOf(order)).toEqual({ outcome: "left", reason: "the escrow is not the service's" });
		await database.pool.query("update unknown_orders set outcome = null where order_id = $1", [
			hexToBytes(orderId(order)),
		]);
		config = swapDeployment({ assets: assets.filter(({ symbol }) => symbol !== "USDC") });
		expect(await rebuild()).toBe(0);
		expect(await outcomeOf(order)).toEqual({
			outcome: "left",
			reason: "the input is not an asset of the service",
		});
	} finally {
		config = before;
	}
});

test("dust is left once its wallet can refund it; an order without a price waits, and a delivered one is rebuilt without a price", async () => {
	const dust = await forget({ inputAmount: 1n });
	expect(await rebuild()).toBe(0);
	// Fees may come down until then.
	expect(await outcomeOf(dust)).toEqual({ outcome: null, reason: null });
	await passRefundAfter(dust);
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(dust)).toMatchObject({ outcome: "left" });

	// The input of a delivered order belongs to the service, regardless of what it is.
	const filled = await makeOrder();
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

test("a small order is not left while its delivery may still be unknown, and is rebuilt once it is known", async () => {
	const order = { ...(await makeOrder()), inputAmount: 1n };
	await actions.open(order);
	await actions.fill(order, 9_000_000n);
	const { refundAfter } = unpackDeadlines(order.deadlines);
	await passOn(chains.origin, refundAfter);
	await actions.finalize();
	// The destination's follower is behind, as after a restore.
	await follow(chains.origin);
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(order)).toEqual({ outcome: null, reason: null });
	await follow(chains.destination);
	expect(await rebuild()).toBe(1);
	expect((await swapOf(order))?.orderId).toBe(orderId(order));
});

test("an order that was left and turns out to be delivered is rebuilt", async () => {
	const order = await forget({ inputAmount: 1n });
	const leave = "update unknown_orders set outcome = 'left', reason = 'any' where order_id = $1";
	await database.pool.query(leave, [hexToBytes(orderId(order))]);
	expect(await rebuild()).toBe(0);
	await actions.fill(order, 9_000_000n);
	await followAll();
	expect(await rebuild()).toBe(1);
	expect(await outcomeOf(order)).toMatchObject({ outcome: "rebuilt" });
});

test("a delivered order is never left, and if it cannot be released as configured, an error is logged until it can", async () => {
	const order = await makeOrder();
	await actions.fill(order, 9_000_000n);
	await actions.open(order);
	await passRefundAfter(order);
	const before = config;
	const withoutUsdc = ({ deployment, ...chain }: EvmChainConfig) => ({
		...chain,
		deployment: { ...deployment, assets: deployment.assets.filter(({ symbol }) => symbol !== "USDC") },
	});
	try {
		config = { ...config, chains: evmChains(config).map(withoutUsdc) };
		expect(await rebuild()).toBe(0);
		expect(await outcomeOf(order)).toEqual({ outcome: null, reason: null });
		expect(errors).toEqual(["a delivered order cannot be released with this configuration"]);
	} finally {
		config = before;
	}
	expect(await rebuild()).toBe(1);
});

test("an order that cannot be read waits, and the others are rebuilt", async () => {
	const [bad, good] = [await makeOrder(), await makeOrder()];
	await actions.open(bad);
	await actions.open(good);
	await passOpenDeadline(good);
	// The bad order comes first, as the one that was checked longest ago.
	const spoil = `update unknown_orders set order_terms = jsonb_set(order_terms, '{deadlines}', $2::jsonb),
		open_deadline = 0 where order_id = $1`;
	await database.pool.query(spoil, [hexToBytes(orderId(bad)), JSON.stringify(String(2n ** 200n))]);
	expect(await rebuild()).toBe(1);
	expect(await outcomeOf(good)).toMatchObject({ outcome: "rebuilt" });
	expect(await outcomeOf(bad)).toEqual({ outcome: null, reason: null });
	await database.pool.query("delete from unknown_orders where order_id = $1", [hexToBytes(orderId(bad))]);
});

test("of two orders with the same id, the one that is rebuilt later gets a different swap id", async () => {
	// The delivered order is rebuilt first, although its open deadline is later.
	const delivered = await makeOrder();
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(delivered.deadlines);
	const earlier = packDeadlines({ openDeadline: openDeadline - 1n, fillDeadline, refundAfter });
	const shadow = { ...delivered, deadlines: earlier, minOutput: 5n };
	await actions.open(shadow);
	await actions.open(delivered);
	await actions.fill(delivered, 9_000_000n);
	await passOpenDeadline(delivered);
	expect(await rebuild()).toBe(2);
	expect((await swapOf(delivered))?.orderId).toBe(orderId(delivered));
	const spareOf = (order: Order) => spareSwapUuid({ swapKey: order.swapKey, orderId: orderId(order) });
	expect((await readSwap(database.pool, spareOf(shadow)))?.orderId).toBe(orderId(shadow));

	// A shadow that was rebuilt before the delivery was known does not prevent its release.
	const late = await makeOrder();
	const first = { ...late, minOutput: 5n };
	await actions.open(first);
	await passOpenDeadline(first);
	expect(await rebuild()).toBe(1);
	const latest = await forget({ ...late, deadlines: (await makeOrder()).deadlines });
	await actions.fill(latest, 9_000_000n);
	await followAll();
	expect(await rebuild()).toBe(1);
	expect((await swapOf(first))?.orderId).toBe(orderId(first));
	expect((await readSwap(database.pool, spareOf(latest)))?.orderId).toBe(orderId(latest));
	expect(await rebuild()).toBe(0);
});

test("orders to Solana wait for the budget and until their records are read; delivered ones cost nothing, nor do refunded ones after a restore", async () => {
	const before = config;
	const deployment = testSolanaDeployment(chains.origin.deployment);
	const asset = deployment.assets.find(({ symbol }) => symbol === "USDC");
	if (!asset) throw new Error("it has USDC");
	const toSolana = {
		destinationChainId: BigInt(deployment.chainId),
		destinationVault: toSolanaWord(deployment.program.vault),
		outputToken: toSolanaWord(asset.address),
	};
	const worthOf = ({ inputAmount }: Order) => {
		return { valueUsdCents: 1n, isWorth: inputAmount > 1n, costMicroUsd: 30_000_000n };
	};
	try {
		config = withSolana(config, { deployment });
		config = { ...config, limits: { ...config.limits, rebuiltRefundsUsdPerDay: 50 } };
		const open = async (inputAmount = 10_000_000n) => {
			const order = { ...(await makeOrder()), ...toSolana, inputAmount };
			await actions.open(order);
			return order;
		};
		const orders = [await open(), await open()];
		const delivered = await open(1n);
		const dust = await open(1n);
		const voidedDust = await open(1n);
		records = undefined;
		await passRefundAfter(voidedDust);
		expect(await rebuild({ worthOf })).toBe(0);
		for (const order of [...orders, delivered, dust, voidedDust]) {
			expect(await outcomeOf(order)).toEqual({ outcome: null, reason: null });
		}
		// Only the record shows what a lost database has paid.
		records = new Map([
			[orderId(delivered), "filled"],
			[orderId(voidedDust), "voided"],
		]);
		expect(await rebuild({ worthOf })).toBe(2);
		expect(await outcomeOf(delivered)).toEqual({ outcome: "rebuilt", reason: null });
		// No payout of a voided order can be made any more.
		expect(await outcomeOf(voidedDust)).toMatchObject({ outcome: "left" });
		// Solana is not known to be past the fill deadline of one without a record.
		expect(await outcomeOf(dust)).toEqual({ outcome: null, reason: null });
		const outcomes = await Promise.all(orders.map(outcomeOf));
		expect(outcomes.filter((one) => one?.outcome === "rebuilt")).toHaveLength(1);
		expect(await rebuild({ worthOf })).toBe(0);
		const waiting = orders[outcomes.findIndex((one) => one?.outcome === null)];
		if (!waiting) throw new Error("one of them waits");
		await actions.decide("Refund", waiting);
		await followAll();
		expect(await rebuild({ worthOf })).toBe(0);
		const { timestamp } = await chains.origin.publicClient.getBlock();
		await noteRestore(database.owner, { nowMs: Number(timestamp) * 1_000 });
		expect(await rebuild({ worthOf })).toBe(1);

		await database.pool.query(
			`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
				booked_number) values ($1, 1, '', $2, 5000, 1, $2, 1)`,
			[deployment.chainId, unpackDeadlines(dust.deadlines).fillDeadline],
		);
		expect(await rebuild({ worthOf })).toBe(0);
		expect(await outcomeOf(dust)).toMatchObject({ outcome: "left" });
	} finally {
		config = before;
	}
});

test("orders with deadlines or a key that no quote has are left", async () => {
	const order = await makeOrder();
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const hasty = {
		...order,
		deadlines: packDeadlines({ openDeadline, fillDeadline: openDeadline + 1n, refundAfter }),
	};
	const key = (seconds: bigint) =>
		toSwapKey(newSwapUuid({ nowMs: Number(openDeadline - seconds) * 1_000, random: randomBytes(10) }));
	const cases: [Order, string][] = [
		[hasty, "its deadlines are not those of a quote"],
		[
			{ ...order, deadlines: packDeadlines({ openDeadline, fillDeadline, refundAfter: fillDeadline + 1n }) },
			"its deadlines are not those of a quote",
		],
		[{ ...order, swapKey: key(1_000n) }, "its swap key is not one of a quote"],
		[{ ...order, swapKey: key(10n) }, "its swap key is not one of a quote"],
		[
			{ ...order, swapKey: `0x${order.swapKey.slice(2, 46)}0${order.swapKey.slice(47)}` },
			"its swap key is not one of a quote",
		],
	];
	for (const [one] of cases) await actions.open(one);
	await passRefundAfter(order);
	expect(await rebuild()).toBe(0);
	const outcomes = await Promise.all(cases.map(([one]) => outcomeOf(one)));
	expect(outcomes).toEqual(cases.map(([, reason]) => ({ outcome: "left", reason })));
});

test("a decision is not changed, and an order that was left is deleted days later", async () => {
	const order = await forget();
	expect(await rebuild()).toBe(1);
	const decide = { outcome: "left", reason: "another worker was slow", nowMs: Date.now() } as const;
	await decideUnknownOrder(database.pool, orderId(order), decide);
	expect(await outcomeOf(order)).toEqual({ outcome: "rebuilt", reason: null });

	const foreign = await forget({ destinationChainId: 5n });
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(foreign)).toMatchObject({ outcome: "left" });
	const age = "update unknown_orders set open_deadline = open_deadline - 5 * 86400 where order_id = any($1)";
	await database.pool.query(age, [[order, foreign].map((one) => hexToBytes(orderId(one)))]);
	expect(await rebuild()).toBe(0);
	expect(await outcomeOf(foreign)).toBeUndefined();
	expect(await outcomeOf(order)).toMatchObject({ outcome: "rebuilt" });
});

test("a delivery that was booked before its deposit was known is finally booked to its recipient with the exact amount", async () => {
	const order = await forget();
	const routed = await makeOrder({ symbol: "WETH" });
	// The destination's follower reads the delivery first.
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
	expect(await sums(routed)).toEqual({ recipient: delivered, inventory: -9_000_000n });
	expect(await sums(order)).toEqual({ recipient: 0n, inventory: 0n });
	const { rows: unbalanced } = await database.pool.query(
		"select posting_id from entries group by posting_id, token having sum(amount) <> 0",
	);
	expect(unbalanced).toEqual([]);
});

async function sums(order: Order): Promise<{ recipient: bigint; inventory: bigint }> {
	const { rows } = await database.pool.query<{ account: string; amount: bigint }>(
		`select account, sum(amount) as amount from entries join postings on id = posting_id
		where order_id = $1 and account in ('recipient', 'inventory') group by account`,
		[hexToBytes(orderId(order))],
	);
	const of = (account: string) => rows.find((row) => row.account === account)?.amount ?? 0n;
	return { recipient: of("recipient"), inventory: of("inventory") };
}
