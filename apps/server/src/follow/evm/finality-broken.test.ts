import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { fromSwapKey, type Order, orderId, orderToJson } from "@geoswap/protocol";
import { bytesToHex, hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { orderActions } from "../../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { readBalances } from "../../chain/evm/read/read-balances.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { inTransaction } from "../../database/database.ts";
import { readHead } from "../../swap/due/chain-head.ts";
import { liftPauses, readPauses } from "../../swap/pause/pauses.ts";
import { createLog } from "../../telemetry/log.ts";
import { advance } from "./advance.ts";
import { undoFinalBlocks, undoFork } from "./undo-blocks.ts";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
const logged: { level: number; msg: string }[] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = orderActions(chains);
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow(chain: TestChain, pool = database.pool): Promise<void> {
	const following = {
		chain: connectChain(chain),
		pool,
		engine: { poke: async () => {} },
		relayers: [actions.relayer.address],
		log: createLog({ level: "warn", process: "test", write: (line) => logged.push(JSON.parse(line)) }),
	};
	while (await advance(following));
}

/** A swap of an order, ended as it ends once all about it is final. */
async function endedSwap(order: Order): Promise<void> {
	await database.pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, status, stage, ended_at)
		values ($1, $2, $3, 0, 1000, '{"kind": "inventory", "amount": "0"}', 'settled', 'delivered', now())`,
		[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order)],
	);
}

async function eventNames(order: Order): Promise<string[]> {
	const { rows } = await database.pool.query<{ name: string }>(
		"select name from chain_events where order_id = $1 order by block_number, log_index",
		[hexToBytes(orderId(order))],
	);
	return rows.map((row) => row.name);
}

async function expectBooksAsHeld(chain: TestChain): Promise<void> {
	const tokens = chain.deployment.assets.map((asset) => asset.address);
	const { escrow, vault } = chain.deployment.contracts;
	const blockNumber = (await readHead(database.pool, chain.chainId))?.bookedNumber ?? 0;
	for (const [account, holder] of [
		["escrow", escrow],
		["inventory", vault],
	] as const) {
		const held = await readBalances(connectChain(chain), { holders: [holder], tokens, blockNumber });
		const { rows } = await database.pool.query<{ token: Buffer; sum: bigint }>(
			`select token, sum(amount) as sum from entries where chain_id = $1 and account = $2
			group by token having sum(amount) <> 0`,
			[chain.chainId, account],
		);
		expect(Object.fromEntries(rows.map(({ token, sum }) => [bytesToHex(token), sum]))).toEqual(
			Object.fromEntries(tokens.map((token, i) => [token.toLowerCase(), held[i]]).filter(([, sum]) => sum)),
		);
	}
}

test("a chain that drops a final block is paused once and no longer followed; once the pause is lifted, dropped blocks are undone and the books are right", async () => {
	const { origin } = chains;
	await follow(origin);
	const stays = await actions.makeOrder();
	await actions.open(stays);
	await actions.finalize();
	await follow(origin);
	const snapshot = await origin.testClient.snapshot();
	const goes = await actions.makeOrder();
	const comesBack = await actions.makeOrder({ input: "USDT" });
	await actions.open(goes);
	await actions.open(comesBack);
	await actions.finalize();
	await follow(origin);
	await endedSwap(goes);
	await expectBooksAsHeld(origin);
	const before = await readHead(database.pool, origin.chainId);
	expect(before?.bookedNumber).toBeGreaterThan(0);

	await origin.testClient.revert({ id: snapshot });
	await origin.testClient.increaseTime({ seconds: 5 });
	await origin.testClient.mine({ blocks: 20 });
	for (let i = 0; i < 3; i++) await follow(origin);
	expect(await readHead(database.pool, origin.chainId)).toEqual(before);
	const { chainId } = origin;
	expect(await readPauses(database.pool)).toMatchObject([{ chainId, cause: "finality" }]);
	expect(logged.filter(({ level }) => level === 50)).toMatchObject([
		{ chainId, msg: "the chain dropped a final block and is paused" },
	]);

	await liftPauses(database.owner, {
		chainId,
		cause: "finality",
		by: "a person",
		reason: "looked",
		nowMs: Date.now(),
	});
	await follow(origin);
	expect(await eventNames(stays)).toEqual(["Opened"]);
	expect(await eventNames(goes)).toEqual([]);
	expect(await eventNames(comesBack)).toEqual([]);
	await expectBooksAsHeld(origin);
	const { rows } = await database.pool.query(
		"select status, ended_at, due_at <= now() as is_due from swaps left join waits on swap_id = id where swaps.order_id = $1",
		[hexToBytes(orderId(goes))],
	);
	expect(rows).toMatchObject([{ status: "settled", ended_at: null }]);
	expect(rows[0]?.is_due).toBe(true);

	await actions.open(comesBack);
	await actions.finalize();
	await follow(origin);
	expect(await eventNames(comesBack)).toEqual(["Opened"]);
	await expectBooksAsHeld(origin);
	expect(await readPauses(database.pool)).toEqual([]);
});

test("a lifted pause covers one break of finality, and the next break pauses the chain again", async () => {
	const { origin } = chains;
	const { chainId } = origin;
	await follow(origin);
	const again = await origin.testClient.snapshot();
	await origin.testClient.mine({ blocks: 12 });
	await follow(origin);
	await origin.testClient.revert({ id: again });
	await origin.testClient.increaseTime({ seconds: 5 });
	await origin.testClient.mine({ blocks: 14 });
	await follow(origin);
	expect(await readPauses(database.pool)).toMatchObject([{ chainId, cause: "finality" }]);
});

test("events that are undone and then happen again in the same blocks are booked again", async () => {
	const { origin } = chains;
	const { chainId } = origin;
	const { pool } = database;
	await liftPauses(database.owner, {
		chainId,
		cause: "finality",
		by: "ada",
		reason: "seen",
		nowMs: 0,
	});
	await follow(origin);
	const order = await actions.makeOrder();
	await actions.open(order);
	await actions.finalize();
	await follow(origin);
	await expectBooksAsHeld(origin);
	const block = async () => (await readHead(pool, chainId))?.finalizedNumber ?? 0;
	const before = await postingsOf(order);
	expect(before).toEqual(["Opened"]);
	const { rows } = await pool.query<{ number: number }>(
		"select min(block_number) - 1 as number from chain_events where order_id = $1",
		[hexToBytes(orderId(order))],
	);
	const number = Number(rows[0]?.number);
	expect(number).toBeLessThan(await block());
	const known = await readBlock(connectChain(origin), number);
	// This has the effect of a chain that dropped the blocks, and then had the same ones again.
	await inTransaction(pool, (db) => undoFinalBlocks(db, { chainId, block: known }));
	await follow(origin);
	expect(await postingsOf(order)).toEqual(["Opened", "Opened", "reversal"]);
	await expectBooksAsHeld(origin);
});

async function postingsOf(order: Order): Promise<string[]> {
	const { rows } = await database.pool.query<{ name: string }>(
		"select name from postings where order_id = $1 order by name",
		[hexToBytes(orderId(order))],
	);
	return rows.map(({ name }) => name);
}

test("a follower that was overtaken by another one pauses nothing", async () => {
	const { origin } = chains;
	const { chainId } = origin;
	const { pool } = database;
	await follow(origin);
	const stale = await readHead(pool, chainId);
	if (!stale) throw new Error("it is followed");
	await origin.testClient.mine({ blocks: 30 });
	await follow(origin);
	const chain = connectChain(origin);
	// For a stale head the blocks are gone, or its node is behind what the other follower has recorded as final.
	await expect(undoFork({ chain, pool, head: stale, latestNumber: stale.number })).rejects.toThrow(
		"another follower moved the head",
	);
	const head = await readHead(pool, chainId);
	if (!head) throw new Error("it is followed");
	await expect(undoFork({ chain, pool, head, latestNumber: head.finalizedNumber - 1 })).rejects.toThrow(
		"is behind a final block",
	);

	// The recorded finality is broken, and while this follower checks it another one moves on.
	const snapshot = await origin.testClient.snapshot();
	await origin.testClient.mine({ blocks: 12 });
	await follow(origin);
	await origin.testClient.revert({ id: snapshot });
	await origin.testClient.increaseTime({ seconds: 5 });
	await origin.testClient.mine({ blocks: 14 });
	const racing = new Proxy(pool, {
		get(real, name) {
			if (name !== "connect") return Reflect.get(real, name).bind?.(real) ?? Reflect.get(real, name);
			return async () => {
				await real.query(
					"update chain_heads set finalized_number = finalized_number + 1 where chain_id = $1",
					[chainId],
				);
				return real.connect();
			};
		},
	});
	await expect(follow(origin, racing)).rejects.toThrow("another follower moved the head");
	expect(await readPauses(pool)).toEqual([]);
});

test("undoing final blocks waits for a transaction that holds one of their swaps, without a deadlock", async () => {
	const { origin } = chains;
	const { chainId } = origin;
	const { pool } = database;
	const order = await actions.makeOrder();
	await actions.open(order);
	await actions.finalize();
	await origin.testClient.mine({ blocks: 30 });
	// The follower starts from the chain as it is now, without what other tests left.
	await database.owner.query("truncate chain_heads, chain_blocks, chain_events");
	await database.owner.query("truncate postings, entries");
	await follow(origin);
	const head = await readHead(pool, chainId);
	if (!head) throw new Error("it is followed");
	const id = hexToBytes(orderId(order));
	await pool.query("insert into chain_events values ($1, $2, 0, '', '', '', $3, 'Opened', '{}')", [
		chainId,
		head.finalizedNumber,
		id,
	]);
	await endedSwap(order);
	await pool.query("insert into waits (swap_id, order_id) values ($1, $2)", [fromSwapKey(order.swapKey), id]);
	const block = await readBlock(connectChain(origin), head.finalizedNumber - 1);
	await database.owner.query("update postings set block_number = $2 where chain_id = $1", [
		chainId,
		block.number,
	]);
	let undoing: Promise<unknown> = Promise.resolve();
	await inTransaction(pool, async (db) => {
		await db.query("select from swaps where order_id = $1 for update", [id]);
		undoing = inTransaction(pool, (other) => undoFinalBlocks(other, { chainId, block }));
		const isWaiting = async () =>
			(
				await pool.query(
					"select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
				)
			).rowCount;
		await expect.poll(isWaiting, { timeout: 10_000 }).toBe(1);
		await db.query("update waits set mark = mark + 1 where order_id = $1", [id]);
	});
	expect(await undoing).toMatchObject({ orderIds: [orderId(order)], restarted: 1 });
});
