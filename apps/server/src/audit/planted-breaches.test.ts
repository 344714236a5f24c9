import { startTestChains, type TestChains } from "@geoswap/devnet";
import { fromSwapKey, newSwapUuid, type Order, orderId, orderToJson, type SwapUuid } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { noteSigned } from "../../test/order/note-signed.ts";
import { orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertWait } from "../../test/swap/insert-wait.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { createLog } from "../telemetry/log.ts";
import { createAuditMemory } from "./audit-memory.ts";
import { type Breach, formatReport, type Report } from "./read/report.ts";
import { type ReconcileOptions, reconcile } from "./reconcile.ts";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "auditor" })]);
	actions = orderActions(chains);
	await follow();
}, 120_000);
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow(): Promise<void> {
	await noteSigned(database.owner, actions.fills);
	await actions.finalize();
	for (const chain of [chains.origin, chains.destination]) {
		const engine = { poke: async () => {} };
		const log = createLog({ level: "silent", process: "test" });
		const following = { chain: connectChain(chain), pool: database.pools.worker, engine, relayers: [], log };
		while (await advance(following));
	}
}

async function audit(options: Partial<ReconcileOptions> = {}): Promise<Report> {
	await follow();
	const { pool } = database;
	const of = [chains.origin, chains.destination];
	return reconcile({ pool, chains: of, earlierAttesterSets: [], nowMs: Date.now(), ...options });
}

/** Returns the invariants that an order breaches. */
function foundIn({ breaches }: Report, of: Order): string[] {
	return breaches.filter((breach) => breach.orderId === orderId(of)).map(({ invariant }) => invariant);
}

async function insertSwap(
	order: Order,
	{
		id = fromSwapKey(order.swapKey),
		usdCents = 0n,
		status = "pending",
		moves = ["opening"],
	}: { id?: SwapUuid; usdCents?: bigint; status?: string; moves?: string[] } = {},
): Promise<SwapUuid> {
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, status, moves, ended_at)
		values ($1, $2, $3, 0, $4, '{}', $5, $6, case when $5 <> 'pending' then now() end)`,
		[id, hexToBytes(orderId(order)), orderToJson(order), usdCents, status, moves],
	);
	await insertWait(database.owner, { swapId: id, orderId: orderId(order) });
	return id;
}

const settledMoves = ["opening", "deposited", "delivering", "settled"];

test("a delivery on a deposit that was not deep enough, or that no second provider confirmed, is found", async () => {
	const deposit = { blockNumber: 100, headNumber: 102, finalizedNumber: 90, blocksNeeded: 2 };
	const decided = async (...decisions: object[]) => {
		const order = await actions.makeOrder();
		const swapId = await insertSwap(order, { usdCents: 20_000n });
		for (const data of decisions) {
			await database.owner.query(
				"insert into swap_events (swap_id, fact, data) values ($1, 'delivering', $2)",
				[swapId, data],
			);
		}
		return order;
	};
	const deep = await decided({ deposit });
	const shallow = await decided({ deposit: { ...deposit, headNumber: 101 } });
	const unfinal = await decided({ deposit: { ...deposit, blocksNeeded: null } });
	const unseen = await decided({ deposit: { ...deposit, finalizedNumber: 100 }, agreeAboveUsd: 100 });
	// A reorg dropped the first deposit. The delivery was decided on that deposit, and stays made.
	const again = await decided({ deposit: { ...deposit, headNumber: 101 } }, { deposit });
	const report = await audit();
	expect([deep, shallow, unfinal, unseen, again].map((order) => foundIn(report, order))).toEqual([
		...[[], ["I6"], ["I6"], ["I6"], ["I6"]],
	]);
	await database.owner.query("insert into cross_checks values ($1, $2, 100, $3, $3, 102, 90)", [
		chains.origin.chainId,
		hexToBytes(orderId(unseen)),
		hexToBytes("0x01"),
	]);
	expect(foundIn(await audit(), unseen)).toEqual([]);
	// The current configuration is used, if it is known to have applied then.
	const strict = [chains.origin, chains.destination].map((chain) => ({
		chainId: chain.chainId,
		rpcUrl: chain.rpcUrl,
		deployment: chain.deployment,
		depths: [{ upToUsd: 1_000, blocks: 3 }],
	}));
	expect(foundIn(await audit({ chains: strict }), deep)).toEqual([]);
	expect(foundIn(await audit({ chains: strict, policySinceMs: 0 }), deep)).toEqual(["I6"]);
});

test("a posting that does not balance is found for its chain, regardless of its kind", async () => {
	const { chainId } = chains.destination;
	await database.owner.query("alter table entries disable trigger entries_balance");
	await database.owner.query(
		`with posted as (
			insert into postings (key, chain_id, block_number, name) values ('loss:0x01:7', $1, 1, 'loss') returning id
		)
		insert into entries select id, 'loss', $1, '\\x01', 5 from posted`,
		[chainId],
	);
	await database.owner.query("alter table entries enable trigger entries_balance");
	const found = async (options?: Partial<ReconcileOptions>) =>
		(await audit(options)).breaches.filter(({ message }) => message.includes("loss:0x01:7"));
	expect(await found()).toMatchObject([{ invariant: "I2", chainIds: [chainId] }]);
	await database.owner.query("delete from entries where account = 'loss'");
	expect(await found()).toEqual([]);
});

test("a transition that the state diagram does not allow, or a stage without a transition, is found", async () => {
	const leaps = await actions.makeOrder();
	await insertSwap(leaps, { moves: ["opening", "deposited", "refunding", "delivering", "opening"] });
	const changed = await actions.makeOrder({ stepSeconds: 1n, agoSeconds: 60n });
	await insertSwap(changed, {
		status: "failed",
		moves: ["opening", "deposited", "opening", "failed", "opening"],
	});
	const rewritten = await actions.makeOrder();
	await insertSwap(rewritten);
	await database.owner.query("update swaps set stage = 'refunding' where order_id = $1", [
		hexToBytes(orderId(rewritten)),
	]);
	const report = await audit();
	expect(foundIn(report, leaps)).toEqual(["I7"]);
	expect(foundIn(report, changed).filter((invariant) => invariant === "I7")).toHaveLength(2);
	expect(foundIn(report, rewritten)).toEqual(["I7"]);
	expect(report.checked.I7).toBe(report.swaps);
});

test("deliveries that are not final, or not released, beyond the cap that applied to one of them are found", async () => {
	const unfinal = await actions.makeOrder();
	await actions.fill(unfinal, 9_000_000n);
	const unfinalSwap = await insertSwap(unfinal, { usdCents: 1_100n });
	const unreleased = await actions.makeOrder();
	await actions.open(unreleased);
	await actions.fill(unreleased, 9_000_000n);
	const unreleasedSwap = await insertSwap(unreleased, { usdCents: 1_000n });
	const capped = (unfinalCapUsd: number, unreleasedCapUsd: number) =>
		[chains.origin, chains.destination].map(({ chainId, rpcUrl, deployment }) => ({
			chainId,
			rpcUrl,
			deployment,
			unfinalCapUsd,
			unreleasedCapUsd,
		}));
	const capsSince = async (policySinceMs: number | undefined, ...cap: [number, number]) =>
		(await audit({ chains: capped(...cap), policySinceMs })).breaches
			.filter(({ invariant }) => invariant === "I10" || invariant === "I15")
			.map(({ invariant, chainIds, usdCents }) => [invariant, ...chainIds, usdCents]);
	const caps = (...cap: [number, number]) => capsSince(undefined, ...cap);
	const { chainId } = chains.origin;
	expect(await caps(11, 21)).toEqual([]);
	expect(await caps(10.99, 21)).toEqual([["I10", chainId, "1100"]]);
	expect(await caps(11, 20.99)).toEqual([["I15", chainId, "2100"]]);

	// Both deliveries were decided an hour ago.
	const decide = (swapId: SwapUuid) =>
		database.owner.query(
			`insert into swap_events (swap_id, fact, data, at) values ($1, 'delivering', $2, now() - interval '1 hour')`,
			[swapId, { deposit: { blockNumber: 1, headNumber: 9, finalizedNumber: 9, blocksNeeded: null } }],
		);
	await decide(unfinalSwap);
	await decide(unreleasedSwap);
	const [before, after] = [2 * 3_600_000, 600_000].map((ago) => Date.now() - ago);
	expect(await capsSince(before, 10.99, 20.99)).toEqual([
		["I10", chainId, "1100"],
		["I15", chainId, "2100"],
	]);
	// The caps were lowered since, and nothing was delivered that exceeds them.
	expect(await capsSince(after, 10.99, 20.99)).toEqual([]);
});

test("two swaps of one order, and two sets of jobs for one nonce, are found", async () => {
	const order = await actions.makeOrder();
	await insertSwap(order);
	await insertSwap(order, { id: newSwapUuid({ nowMs: Date.now(), random: new Uint8Array(10).fill(9) }) });
	expect(foundIn(await audit(), order).sort()).toEqual(["I11", "I11"]);
	await database.owner.query("delete from swaps where order_id = $1", [hexToBytes(orderId(order))]);

	const sign = (attempt: number, kind: string, jobs: object[]) =>
		database.owner.query(
			`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
				sent_at_block)
			values (31337, '\\x11', 7, $1::int, decode(lpad($1::int::text, 64, '0'), 'hex'), '', $2, $3, 1, 'broadcast', 1)`,
			[attempt, kind, JSON.stringify(jobs)],
		);
	const nonces = async () =>
		(await audit()).breaches.filter(({ message }) => message.includes("relayer 0x11"));
	await sign(1, "fill", [{ swapId: "a" }, { swapId: "b" }]);
	await sign(2, "fill", [{ swapId: "b" }, { swapId: "a" }]);
	await sign(3, "cancel", []);
	expect(await nonces()).toEqual([]);
	await sign(4, "fill", [{ swapId: "c" }]);
	expect(await nonces()).toMatchObject([{ invariant: "I11", chainIds: [31_337] }]);
	await database.owner.query("delete from lane_transactions");
});

test("an audit with a memory reads only new data, forgets finished orders, and has the same findings", async () => {
	const memory = createAuditMemory();
	const isKnown = () => true;
	const order = await actions.makeOrder();
	await actions.open(order);
	await insertSwap(order);
	expect(foundIn(await audit({ memory, isKnown }), order)).toEqual([]);
	await actions.fill(order, 9_000_000n);
	expect(foundIn(await audit({ memory, isKnown }), order)).toEqual([]);
	await actions.decide("Release", order);
	// The chain is ahead of the books.
	expect(foundIn(await audit({ memory, isKnown }), order)).toEqual([]);
	await database.owner.query(
		"update swaps set status = 'settled', stage = 'delivered', moves = $2, ended_at = now() where order_id = $1",
		[hexToBytes(orderId(order)), settledMoves],
	);
	expect(foundIn(await audit({ memory, isKnown }), order)).toEqual([]);
	const opened = () => memory.chains.get(chains.origin.chainId)?.events.opened.map((event) => event.orderId);
	expect(opened()).toContain(orderId(order));
	await audit({ memory, isKnown, nowMs: Date.now() + 700_000 });
	expect(opened()).not.toContain(orderId(order));
	const [late, whole] = [await audit({ memory, nowMs: Date.now() + 1_500_000 }), await audit()];
	expect(late.orders).toBeLessThan(whole.orders);
	expect(late.chains.map(({ tokens }) => tokens)).toEqual(whole.chains.map(({ tokens }) => tokens));
});

test("a known finding about a swap that ended is reported until everything is read again", async () => {
	const memory = createAuditMemory();
	const isKnown = () => true;
	const order = await actions.makeOrder({ stepSeconds: 1n, agoSeconds: 60n });
	await insertSwap(order, { status: "failed", moves: ["opening", "deposited", "failed"] });
	for (const laterMs of [0, 700_000, 1_400_000, 2_100_000]) {
		const report = await audit({ memory, isKnown, nowMs: Date.now() + laterMs });
		expect(foundIn(report, order)).toEqual(["I7"]);
	}
	// A corrected row is accepted when it is read again.
	await database.owner.query("update swaps set moves = '{opening,failed}' where order_id = $1", [
		hexToBytes(orderId(order)),
	]);
	expect(foundIn(await audit({ memory: createAuditMemory(), isKnown }), order)).toEqual([]);
});

test("an audit with a memory finds a delivery for an unknown order, and not one for an ended swap", async () => {
	const memory = createAuditMemory();
	const isKnown = () => true;
	await audit({ memory, isKnown });
	const [unknown, ended] = [await actions.makeOrder(), await actions.makeOrder()];
	for (const order of [unknown, ended]) await actions.fill(order, 9_000_000n);
	await insertSwap(ended, { status: "settled", moves: settledMoves });
	for (const laterMs of [0, 4_500_000, 9_000_000]) {
		const report = await audit({ memory, isKnown, nowMs: Date.now() + laterMs });
		expect([unknown, ended].map((order) => foundIn(report, order))).toEqual([["I6"], []]);
	}
});

test("a delivery whose order a restore has lost is found only after its deposit had an hour to become final", async () => {
	const order = await actions.makeOrder();
	await actions.fill(order, 9_000_000n);
	await database.owner.query("insert into restores values ($1)", [new Date()]);
	expect(foundIn(await audit(), order)).toEqual([]);
	expect(foundIn(await audit({ nowMs: Date.now() + 4_500_000 }), order)).toEqual(["I6"]);
	await database.owner.query("delete from restores");
	expect(foundIn(await audit(), order)).toEqual(["I6"]);
});

test("a delivery by a transaction that the service did not sign is found, although its order has a deposit and a swap", async () => {
	const [small, stolen] = [await actions.makeOrder(), await actions.makeOrder()];
	for (const order of [small, stolen]) {
		await actions.open(order);
		await insertSwap(order);
	}
	await actions.fill(small, 9_000_000n);
	await actions.fill(stolen, 900_000_000n, { isTheft: true });
	const report = await audit();
	expect([small, stolen].map((order) => foundIn(report, order))).toEqual([[], ["I6"]]);
	expect(report.breaches.find(({ orderId: id }) => id === orderId(stolen))?.amount).toBe("900000000");
	// The books of a restored database do not have everything that was signed before.
	await database.owner.query("insert into restores values ($1)", [new Date()]);
	expect(foundIn(await audit(), stolen)).toEqual([]);
	await database.owner.query("delete from restores");
});

test("an order that should be refundable by any caller and is not is found, and a loss is reported with its value", async () => {
	const open = await actions.makeOrder({ stepSeconds: 30n });
	await actions.open(open);
	await insertSwap(open);
	const gone = await actions.makeOrder({ stepSeconds: 30n });
	await actions.fill(gone, 9_000_000n);
	await insertSwap(gone, { usdCents: 1_234n });
	const { testClient, publicClient } = chains.origin;
	await testClient.increaseTime({ seconds: 300 });
	const report = await audit();
	expect(foundIn(report, open)).toEqual([]);
	expect(report.checked.I12).toBe(1);
	expect(report.losses).toMatchObject([
		{ orderId: orderId(gone), kind: "delivered-without-deposit", amount: "10000000", usdCents: "1234" },
	]);
	expect(report.lostUsdCents).toEqual({ [chains.origin.chainId]: "1234" });
	expect(formatReport(report)).toMatch(/LOSS .*12\.34 USD.*\nlost on chain 31337: 12\.34 USD/s);

	const { escrow } = chains.origin.deployment.contracts;
	const code = await publicClient.getCode({ address: escrow });
	await testClient.setCode({ address: escrow, bytecode: "0xfe" });
	expect(foundIn(await audit(), open)).toEqual(["I12"]);
	await testClient.setCode({ address: escrow, bytecode: code ?? "0x" });
});

test("a chain that does not answer, or lags behind the books, is reported as unchecked, and the others are audited", async () => {
	const found = await audit();
	const { origin, destination } = chains;
	const gone = { ...destination, rpcUrl: "http://127.0.0.1:1" };
	const report = await audit({ chains: [origin, { ...gone, deployment: destination.deployment }] });
	expect(report.unchecked).toEqual([
		{
			chainId: destination.chainId,
			why: expect.stringContaining(`chain ${destination.chainId} could not be read`),
		},
	]);
	const audited = (one: Report) => one.chains.map(({ chainId }) => chainId);
	expect(audited(report)).toEqual([origin.chainId]);
	expect(formatReport(report)).toContain(`NOT CHECKED chain ${destination.chainId}: `);
	// No false breach is found, because orders that may have continued there are not checked. A message can contain a
	// number of seconds.
	const about = ({ invariant, orderId: id, message }: Breach) => `${invariant} ${id ?? message}`;
	const known = new Set(found.breaches.map(about));
	expect(report.breaches.filter((breach) => !known.has(about(breach)))).toEqual([]);

	await database.owner.query("update chain_heads set booked_number = 1000000 where chain_id = $1", [
		origin.chainId,
	]);
	const behind = await audit();
	expect(behind.unchecked).toEqual([
		{ chainId: origin.chainId, why: expect.stringMatching(/could not be read: its node is at block/) },
	]);
	expect(audited(behind)).toEqual([destination.chainId]);
});
