import { devTokenAbi, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { fromSwapKey, type Order, orderId, orderToJson, toWord } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, hexToBytes, http, type Transport } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { noteSigned } from "../../test/order/note-signed.ts";
import { assetAddress, orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertWait } from "../../test/swap/insert-wait.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { createLog } from "../telemetry/log.ts";
import { formatReport, type Report } from "./read/report.ts";
import { reconcile } from "./reconcile.ts";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "auditor" })]);
	actions = orderActions(chains);
	await follow();
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

/** Follows the chains until everything that happened is final and booked. */
async function follow(): Promise<void> {
	await noteSigned(database.owner, actions.fills);
	await actions.finalize();
	for (const chain of [chains.origin, chains.destination]) {
		const following = {
			chain: connectChain(chain),
			pool: database.pools.worker,
			engine: { poke: async () => {} },
			relayers: [],
			log: createLog({ level: "silent", process: "test" }),
		};
		while (await advance(following));
	}
}

async function audit({ nowMs = Date.now() } = {}): Promise<Report> {
	await follow();
	return reconcile({
		pool: database.pool,
		chains: [chains.origin, chains.destination],
		earlierAttesterSets: [],
		nowMs,
	});
}

const movesTo = {
	pending: ["opening"],
	settled: ["opening", "deposited", "delivering", "settled"],
	refunded: ["opening", "deposited", "refunding", "refunded"],
	failed: ["opening", "failed"],
} as const;

async function insertSwap(
	order: Order,
	status: keyof typeof movesTo,
	deliveredAmount?: bigint,
	{ id = fromSwapKey(order.swapKey), usdCents = 0n }: { id?: string; usdCents?: bigint } = {},
): Promise<void> {
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, status, delivered_amount, ended_at,
			moves)
		values ($1, $2, $3, 0, $6, '{}', $4, $5, case when $4 <> 'pending' then now() end, $7)`,
		[
			id,
			hexToBytes(orderId(order)),
			orderToJson(order),
			status,
			deliveredAmount ?? null,
			usdCents,
			movesTo[status],
		],
	);
	await insertWait(database.owner, { swapId: id, orderId: orderId(order) });
}

/** Moves tokens in a way that no key could. */
async function steal(chain: TestChain, { from, amount }: { from: Address; amount: bigint }): Promise<void> {
	const { testClient, publicClient } = chain;
	await testClient.impersonateAccount({ address: from });
	// Pays for the gas, which would otherwise be missing as well.
	await testClient.setBalance({ address: from, value: 2n * 10n ** 21n });
	const hash = await testClient.request<{
		Method: "eth_sendTransaction";
		Parameters: [{ from: Address; to: Address; data: Hex }];
		ReturnType: Hex;
	}>({
		method: "eth_sendTransaction",
		params: [
			{
				from,
				to: assetAddress(chain, "USDC"),
				data: encodeFunctionData({
					abi: devTokenAbi,
					functionName: "transfer",
					args: [actions.relayer.address, amount],
				}),
			},
		],
	});
	await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

test("the books of correctly handled swaps reconcile with the chains", async () => {
	const delivered = await actions.makeOrder();
	const refunded = await actions.makeOrder({ input: "USDT" });
	const open = await actions.makeOrder({ input: "ORB" });
	// Its open deadline has passed.
	const failed = await actions.makeOrder({ stepSeconds: 1n, agoSeconds: 60n });
	for (const order of [delivered, refunded, open]) await actions.open(order);
	await actions.fill(delivered, 9_000_000n);
	await actions.voidOrder(refunded);
	await follow();
	await actions.decide("Release", delivered);
	await actions.decide("Refund", refunded);
	await insertSwap(delivered, "settled", 9_000_000n);
	await insertSwap(refunded, "refunded");
	await insertSwap(open, "pending");
	await insertSwap(failed, "failed");

	const report = await audit();
	expect(report.breaches).toEqual([]);
	expect(report).toMatchObject({ ok: true, orders: 3, swaps: 4 });
	const orb = report.chains[0]?.tokens.find((token) => token.symbol === "ORB");
	expect(orb).toMatchObject({ escrowExpected: "10000000", escrowActual: "10000000", donated: "0" });
	expect(orb?.inventoryActual).toBe(orb?.inventoryBooked);
	expect(formatReport(report)).toMatch(/ORB: escrow 10000000, .*\n3 orders, 4 swaps: all invariants hold$/s);
});

test("a chain that no worker has followed yet is not checked, which is no breach", async () => {
	const added = { ...chains.origin, chainId: 4_242 };
	const report = await reconcile({
		pool: database.pool,
		chains: [chains.origin, chains.destination, added],
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
	expect(report).toMatchObject({
		breaches: [],
		unchecked: [{ chainId: added.chainId, why: "no worker has followed it yet" }],
	});
});

test("swaps that ended on a chain that is no longer configured are no breach, and the report counts them", async () => {
	const { origin, destination } = chains;
	const without = (chain: TestChain) =>
		reconcile({ pool: database.pool, chains: [chain], earlierAttesterSets: [], nowMs: Date.now() });
	for (const [kept, left] of [
		[origin, destination],
		[destination, origin],
	] as const) {
		const report = await without(kept);
		expect(report).toMatchObject({ breaches: [], losses: [], unchecked: [] });
		expect(report.leftChains).toEqual([{ chainId: left.chainId, swaps: 3 }]);
		expect(formatReport(report)).toContain(`NOT JUDGED 3 ended swaps of chain ${left.chainId}`);
	}
});

/**
 * A token whose transferFrom() adds to the receiver's slot, and whose transfer() returns true and moves nothing. Any
 * other call returns 1.
 */
const hollowToken: Hex = `0x${[
	...["5f3560e01c", "806370a082311460215763", "23b872dd14602c57"],
	...["5b60015f5260205ff3", "5b600435545f5260205ff3", "5b602435805460443501905560185600"],
].join("")}`;

test("a fake token that is released to the vault but never arrives is not booked as inventory, and is no breach", async () => {
	const { origin } = chains;
	const token: Address = "0x00000000000000000000000000000000000bad01";
	await origin.testClient.setCode({ address: token, bytecode: hollowToken });
	const order: Order = {
		...(await actions.makeOrder({ to: origin })),
		inputToken: toWord(token),
		destinationVault: toWord(actions.wallet.address),
	};
	await actions.open(order);
	await actions.releaseAsVault(order);
	const left = { ...order, swapKey: (await actions.makeOrder()).swapKey };
	await actions.open(left);

	const report = await audit();
	expect(report.breaches).toEqual([]);
	const { rows } = await database.owner.query(
		"select account, sum(amount)::text as amount from entries where token = $1 group by 1 order by 1",
		[hexToBytes(token)],
	);
	expect(rows).toEqual([
		{ account: "escrow", amount: "10000000" },
		{ account: "unlisted", amount: "10000000" },
		{ account: "wallet", amount: "-20000000" },
	]);
});

test("a false reported outcome is found", async () => {
	const opened = await actions.makeOrder();
	await actions.open(opened);
	await insertSwap(opened, "failed");
	const openable = await actions.makeOrder();
	await insertSwap(openable, "failed");
	const undelivered = await actions.makeOrder();
	await insertSwap(undelivered, "settled", 1n);
	const unpaid = await actions.makeOrder();
	await insertSwap(unpaid, "refunded");
	const stuck = await actions.makeOrder({ stepSeconds: 600n, agoSeconds: 1_860n });
	await insertSwap(stuck, "pending");
	// It may be decided on a chain that is not followed that far.
	const unfollowed = await actions.makeOrder({ stepSeconds: 600n });
	await insertSwap(unfollowed, "pending");
	const nowMs = Date.now() + 5_500_000;
	const { breaches } = await audit({ nowMs });
	expect(breaches.map(({ invariant, orderId }) => [orderId, invariant]).sort()).toEqual(
		[
			[orderId(opened), "I8"],
			[orderId(opened), "I8"],
			[orderId(openable), "I8"],
			[orderId(undelivered), "I8"],
			[orderId(unpaid), "I9"],
			[orderId(unpaid), "I9"],
			[orderId(stuck), "I14"],
		].sort(),
	);
	// A service whose database was restored an hour ago did not have enough time either.
	await database.owner.query("insert into restores values ($1)", [new Date(nowMs - 3_600_000)]);
	const restored = await audit({ nowMs });
	expect(restored.breaches.filter(({ invariant }) => invariant === "I14")).toEqual([]);
	await database.owner.query("delete from restores");
	await database.owner.query("delete from swaps where order_id = any($1)", [
		[opened, openable, undelivered, unpaid, stuck, unfollowed].map((order) => hexToBytes(orderId(order))),
	]);
	expect((await audit()).ok).toBe(true);
});

test("an input that was released before its delivery, or refunded after it, is found", async () => {
	const released = await actions.makeOrder();
	const refunded = await actions.makeOrder();
	for (const order of [released, refunded]) await actions.open(order);
	await actions.decide("Release", released);
	await actions.fill(refunded, 9_000_000n);
	await actions.decide("Refund", refunded);
	const { breaches } = await audit();
	expect(breaches.map(({ invariant, orderId }) => [orderId, invariant]).sort()).toEqual(
		[
			[orderId(released), "I5"],
			[orderId(refunded), "I5"],
		].sort(),
	);
	// The same holds for a set that is no longer the current one.
	const hash: Hex = `0x${"77".repeat(32)}`;
	const rotated = [chains.origin, chains.destination].map(({ chainId, rpcUrl, deployment }) => ({
		chainId,
		rpcUrl,
		deployment: { ...deployment, attesterSet: { ...deployment.attesterSet, hash } },
	}));
	const earlierAttesterSets = [released.attesterSet];
	const later = await reconcile({
		pool: database.pool,
		chains: rotated,
		earlierAttesterSets,
		nowMs: Date.now(),
	});
	expect(later.breaches).toEqual(breaches);
});

test("money that is missing in escrow or vault, an unbalanced posting and a leftover allowance are found", async () => {
	const before = await audit();
	const { origin, destination } = chains;
	await steal(origin, { from: origin.deployment.contracts.escrow, amount: 7n });
	await steal(destination, { from: destination.deployment.contracts.vault, amount: 8n });
	const approving = await actions.makeOrder();
	await actions.approve(approving);
	await database.owner.query(
		"update entries set amount = amount + 1 where ctid = (select ctid from entries where account = 'wallet' limit 1)",
	);
	const report = await audit();
	const known = new Set(before.breaches.map(({ message }) => message));
	const found = report.breaches.filter(({ message }) => !known.has(message));
	expect(found.map(({ invariant, message }) => `${invariant} ${message}`)).toEqual([
		expect.stringMatching(/^I2 posting .* does not add up/),
		expect.stringMatching(/^I1 escrow .* short of 7 USDC/),
		expect.stringMatching(/^I13 wallet .* take 10000000 of/),
		expect.stringMatching(/^I2 the vaults on chain 31338 hold 8 USDC less/),
	]);
	expect(formatReport(report)).toContain("BREACH I1 ");
});

test("blocks of refunds for foreign vaults are not read, and a node gets a few requests at a time", async () => {
	const { origin, destination } = chains;
	const foreign = toWord("0x00000000000000000000000000000000000000ff");
	const made = await Promise.all(Array.from({ length: 12 }, () => actions.makeOrder()));
	const orders = made.map((order, i) => (i < 2 ? { ...order, originVault: foreign } : order));
	const asked = { blocks: new Set<number>(), now: 0, most: 0 };
	const blocks: number[] = [];
	for (const order of orders) {
		await actions.open(order);
		blocks.push(Number((await actions.decide("Refund", order)).blockNumber));
	}
	await follow();
	const transport: Transport = (options) => {
		const real = http(origin.rpcUrl)(options);
		const request: typeof real.request = async (call) => {
			const [tag] = (call.params ?? []) as [string?];
			if (call.method !== "eth_getBlockByNumber" || !tag?.startsWith("0x")) return real.request(call);
			asked.blocks.add(Number(tag));
			asked.most = Math.max(asked.most, ++asked.now);
			return real.request(call).finally(() => asked.now--) as never;
		};
		return { ...real, request };
	};
	await reconcile({
		pool: database.pool,
		chains: [{ ...origin, transport }, destination],
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
	expect(blocks.map((block) => asked.blocks.has(block))).toEqual(orders.map((_, i) => i >= 2));
	expect(asked.most).toBeLessThanOrEqual(8);
}, 60_000);

test("past swaps whose input asset was delisted are no breach and no loss", async () => {
	const settled = await actions.makeOrder({ input: "USDT", stepSeconds: 60n });
	const refunded = await actions.makeOrder({ input: "USDT", stepSeconds: 60n });
	for (const order of [settled, refunded]) await actions.open(order);
	await actions.fill(settled, 9_000_000n);
	await actions.voidOrder(refunded);
	await follow();
	await actions.decide("Release", settled);
	await actions.decide("Refund", refunded);
	await insertSwap(settled, "settled", 9_000_000n);
	await insertSwap(refunded, "refunded");
	// Nothing can be opened any more, so a deposit that is in no final block by now would be lost.
	await chains.origin.testClient.increaseTime({ seconds: 61 });
	await follow();
	const delisted = [chains.origin, chains.destination].map(({ chainId, rpcUrl, deployment }) => ({
		chainId,
		rpcUrl,
		deployment: { ...deployment, assets: deployment.assets.filter(({ symbol }) => symbol !== "USDT") },
	}));
	const report = await reconcile({
		pool: database.pool,
		chains: delisted,
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
	const isOfThese = (found: { orderId?: Hex }) =>
		found.orderId === orderId(settled) || found.orderId === orderId(refunded);
	expect(report.breaches.filter(isOfThese)).toEqual([]);
	expect(report.losses.filter(isOfThese)).toEqual([]);
});
