import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { fromSwapKey, type Order, orderId, orderToJson } from "@geoswap/protocol";
import pg from "pg";
import { pino } from "pino";
import {
	type Address,
	bytesToHex,
	custom,
	erc20Abi,
	type Hash,
	hexToBytes,
	http,
	parseUnits,
	type Transport,
	zeroAddress,
} from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { orderActions } from "../../../test/order/order-actions.ts";
import { someoneWaits } from "../../../test/service/someone-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { takeDue, waitForOrder } from "../../../test/swap/due-orders.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { readBalances } from "../../chain/evm/read/read-balances.ts";
import { inTransaction } from "../../database/database.ts";
import { readHead } from "../../swap/due/chain-head.ts";
import { createLog } from "../../telemetry/log.ts";
import { advance } from "./advance.ts";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
const poked: string[] = [];
const pokeKeys: string[] = [];
/** The errors in the log. */
const told: string[] = [];
let isEngineDown = false;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = orderActions(chains);
	// The node has only the last state of the blocks that it started with.
	await follow(chains.destination);
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});
beforeEach(() => {
	poked.length = 0;
	told.length = 0;
});

async function follow(
	chain: TestChain,
	{ transport = http(chain.rpcUrl) }: { transport?: Transport } = {},
): Promise<void> {
	const following = {
		chain: connectChain({ ...chain, transport }),
		pool: database.pool,
		engine: {
			poke: async (
				{ object, key }: { object: string; key: string },
				{ dedupeKey = "" }: { dedupeKey?: string } = {},
			) => {
				if (isEngineDown) throw new Error("the engine is down");
				poked.push(`${object} ${key}`);
				if (object !== "round") pokeKeys.push(dedupeKey);
			},
		},
		relayers: [actions.relayer.address],
		log: pino({ level: "error" }, { write: (line: string) => void told.push(JSON.parse(line).msg) }),
	};
	while (await advance(following));
}

/** Lists the statements that are sent while something is done, by their names or their first words. */
async function statementsOf(run: () => Promise<void>): Promise<string[]> {
	const asked = vi.spyOn(pg.Client.prototype, "query");
	try {
		await run();
		return asked.mock.calls.map(([query]: unknown[]) =>
			typeof query === "string" ? query : ((query as { name?: string; text: string }).name ?? "unnamed"),
		);
	} finally {
		asked.mockRestore();
	}
}

async function followBoth(): Promise<void> {
	await follow(chains.origin);
	await follow(chains.destination);
}

async function queueJob(order: Order, { kind, chain }: { kind: string; chain: TestChain }): Promise<void> {
	await database.pool.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority)
		values ($1, $2, $3, $4, $5, 'queued', 0)`,
		[fromSwapKey(order.swapKey), kind, chain.chainId, hexToBytes(orderId(order)), orderToJson(order)],
	);
}

async function jobOf(order: Order): Promise<Record<string, unknown> | undefined> {
	const { rows } = await database.pool.query(
		"select state, alone, failures, reason from jobs where swap_id = $1",
		[fromSwapKey(order.swapKey)],
	);
	return rows[0];
}

/** Writes the journal as if the lane had sent the order's job in this transaction. */
async function journal(order: Order, hash: Hash, chain: TestChain): Promise<void> {
	const { nonce } = await chain.publicClient.getTransaction({ hash });
	const relayer = hexToBytes(actions.relayer.address);
	await database.pool.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block)
		values ($1, $2, $3, 0, $4, '', 'fill', '[]', 0, 'broadcast', 0), ($1, $2, $3, 1, '', '', 'fill', '[]', 0, 'signed', 0)`,
		[chain.chainId, relayer, nonce, hexToBytes(hash)],
	);
	await database.pool.query("update jobs set state = 'sent', relayer = $2, nonce = $3 where swap_id = $1", [
		fromSwapKey(order.swapKey),
		relayer,
		nonce,
	]);
}

async function eventNames(order: Order): Promise<string[]> {
	const { rows } = await database.pool.query<{ name: string }>(
		"select name from chain_events where order_id = $1 order by chain_id, block_number, log_index",
		[hexToBytes(orderId(order))],
	);
	return rows.map((row) => row.name);
}

test("an event finishes its job and wakes its waiting swap, and is deleted when a reorg drops its block", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await queueJob(order, { kind: "open", chain: origin });
	await follow(origin);
	expect(poked).toContain(`lane ${origin.chainId}:${actions.relayer.address.toLowerCase()}`);

	await waitForOrder(database.pool, order);
	const snapshot = await origin.testClient.snapshot();
	await actions.open(order);
	await follow(origin);
	expect(await eventNames(order)).toEqual(["Opened"]);
	expect(await jobOf(order)).toMatchObject({ state: "done" });
	expect(poked).toContain("round 0");
	expect((await takeDue(database.pool)).orderIds).toEqual([orderId(order)]);

	await waitForOrder(database.pool, order);
	pokeKeys.length = 0;
	await origin.testClient.revert({ id: snapshot });
	await follow(origin);
	expect(await eventNames(order)).toEqual(["Opened"]);
	await origin.testClient.mine({ blocks: 3 });
	await follow(origin);
	expect(await eventNames(order)).toEqual([]);
	expect(await jobOf(order)).toMatchObject({ state: "queued" });
	expect((await takeDue(database.pool)).orderIds).toEqual([orderId(order)]);
	// Two pokes with one name cause one run, so the block after the dropped ones must be another occasion.
	expect(pokeKeys.length).toBeGreaterThan(1);
	expect(new Set(pokeKeys).size).toBe(pokeKeys.length);
	const { number, hash } = await origin.publicClient.getBlock();
	expect(await readHead(database.pool, origin.chainId)).toMatchObject({ number: Number(number), hash });
});

test("a deposit of the service that a node omits from a block's logs is read from the receipts, and an error is logged", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await queueJob(order, { kind: "open", chain: origin });
	await follow(origin);
	await waitForOrder(database.pool, order);
	const { transactionHash } = await actions.open(order);
	await journal(order, transactionHash, origin);
	const node = http(origin.rpcUrl)({});
	const forgetful = custom({
		request: async (call) => (call.method === "eth_getLogs" ? [] : node.request(call)),
	});
	await follow(origin, { transport: forgetful });
	expect(await eventNames(order)).toEqual(["Opened"]);
	expect(await jobOf(order)).toMatchObject({ state: "done" });
	expect((await takeDue(database.pool)).orderIds).toEqual([orderId(order)]);
	expect(told).toEqual(["a node left events out of a block's logs"]);
	// An open nonce would make later runs request states that the node keeps only for a short time.
	await forgetWork();
});

test("a swap that waits for a block, or for a final block, is woken once that block exists", async () => {
	const { origin } = chains;
	await follow(origin);
	const head = await readHead(database.pool, origin.chainId);
	const orders = { head: await actions.makeOrder(), finalized: await actions.makeOrder() };
	for (const [column, order] of Object.entries(orders)) {
		await waitForOrder(database.pool, order);
		await database.pool.query(
			`update waits set ${column}_chain_id = $2, ${column}_number = $3 where swap_id = $1`,
			[fromSwapKey(order.swapKey), origin.chainId, Number(head?.number) + 2],
		);
	}
	await origin.testClient.mine({ blocks: 1 });
	await follow(origin);
	expect(poked).not.toContain("round 0");
	expect((await takeDue(database.pool)).orderIds).toEqual([]);
	await origin.testClient.mine({ blocks: 1 });
	await follow(origin);
	expect(poked).toContain("round 0");
	expect((await takeDue(database.pool)).orderIds).toEqual([orderId(orders.head)]);
	await actions.finalize();
	await follow(origin);
	expect((await takeDue(database.pool)).orderIds).toEqual([orderId(orders.finalized)]);
});

test("a poke that failed is repeated at the next block", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await waitForOrder(database.pool, order);
	await actions.open(order);
	isEngineDown = true;
	await expect(follow(origin)).rejects.toThrow("the engine is down");
	isEngineDown = false;
	expect(await eventNames(order)).toEqual(["Opened"]);
	await origin.testClient.mine({ blocks: 1 });
	await follow(origin);
	expect(poked).toContain("round 0");
	expect((await takeDue(database.pool)).orderIds).toEqual([orderId(order)]);
});

test("a mined transaction that did not do its job is a failure one block later, and after three failures the job is refused", async () => {
	const { destination } = chains;
	const order = await actions.makeOrder();
	await queueJob(order, { kind: "fill", chain: destination });
	// The vault skips it, because it is more than may leave the vault at a time.
	const skipped = () => actions.fill(order, parseUnits("3000000", 6));
	for (const [failures, state, reason] of [
		[1, "queued", null],
		[2, "queued", null],
		[3, "refused", "liquidity"],
	]) {
		await journal(order, (await skipped()).transactionHash, destination);
		await database.owner.query("delete from lane_transactions where hash = ''");
		await follow(destination);
		expect(await jobOf(order)).toMatchObject({ state: "sent" });
		await destination.testClient.mine({ blocks: 1 });
		await follow(destination);
		expect(await jobOf(order)).toEqual({ state, alone: true, failures, reason });
	}
});

test("a transaction that is already final when it is first read counts as a failure too", async () => {
	const { destination } = chains;
	await follow(destination);
	const order = await actions.makeOrder();
	await queueJob(order, { kind: "fill", chain: destination });
	await journal(order, (await actions.fill(order, parseUnits("3000000", 6))).transactionHash, destination);
	await database.owner.query("delete from lane_transactions where hash = ''");
	await actions.finalize();
	await follow(destination);
	expect(await jobOf(order)).toMatchObject({ state: "queued", failures: 1 });
});

test("a follower that waits for a locked swap does not hold the lock on the inventory", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await waitForOrder(database.pool, order);
	await actions.open(order);
	let following: Promise<void> | undefined;
	await inTransaction(database.pool, async (holder) => {
		await holder.query("select from waits where order_id = $1 for update", [hexToBytes(orderId(order))]);
		following = follow(origin);
		await someoneWaits(database.owner);
		await inTransaction(database.pool, async (submit) => {
			await submit.query("set local lock_timeout = 2000");
			await submit.query("update inventory set reserved = reserved");
		});
	});
	await following;
});

test("after a reorg a job returns to its original transaction, and when one attempt is final all attempts are", async () => {
	const { destination } = chains;
	const order = await actions.makeOrder();
	await queueJob(order, { kind: "fill", chain: destination });
	const snapshot = await destination.testClient.snapshot();
	const { transactionHash } = await actions.fill(order, 9_000_000n);
	await journal(order, transactionHash, destination);
	const serializedTransaction = await destination.publicClient.request<{
		Method: "eth_getRawTransactionByHash";
		Parameters: [Hash];
		ReturnType: Hash;
	}>({ method: "eth_getRawTransactionByHash", params: [transactionHash] });
	const laneStates = async () => {
		const { rows } = await database.pool.query<{ state: string }>(
			`select state from lane_transactions where nonce = (select nonce from jobs where swap_id = $1) order by attempt`,
			[fromSwapKey(order.swapKey)],
		);
		return rows.map((row) => row.state);
	};
	await follow(destination);
	expect(await jobOf(order)).toMatchObject({ state: "done" });
	expect(await laneStates()).toEqual(["mined", "signed"]);

	await destination.testClient.revert({ id: snapshot });
	await destination.testClient.mine({ blocks: 2 });
	await follow(destination);
	expect(await jobOf(order)).toMatchObject({ state: "sent" });
	expect(await laneStates()).toEqual(["broadcast", "signed"]);

	await destination.publicClient.sendRawTransaction({ serializedTransaction });
	await actions.finalize();
	await follow(destination);
	expect(await jobOf(order)).toMatchObject({ state: "done" });
	expect(await laneStates()).toEqual(["final", "final"]);
	const { rows } = await database.pool.query<{ amount: bigint }>(
		"select amount from entries join postings on posting_id = id where key = $1 and account = 'gas'",
		[`${destination.chainId}:gas:${transactionHash}`],
	);
	const receipt = await destination.publicClient.getTransactionReceipt({ hash: transactionHash });
	expect(rows).toEqual([{ amount: receipt.gasUsed * receipt.effectiveGasPrice }]);
});

test("at a final block the ledger equals the holdings of vaults and escrow, to the unit", async () => {
	const { origin, destination } = chains;
	await followBoth();
	const delivered = await actions.makeOrder();
	const bought = await actions.makeOrder({ symbol: "ETH", input: "USDT" });
	const refunded = await actions.makeOrder({ input: "ETH" });
	const onOneChain = await actions.makeOrder({ to: origin, symbol: "USDT" });
	const stillOpen = await actions.makeOrder({ input: "ORB" });
	const toppedUp = await actions.makeOrder({ topUp: 10n ** 15n });
	// The settlement token's contract takes no native token, so that the vault keeps this one.
	const recipient = destination.deployment.settlementToken;
	const refusedTopUp = await actions.makeOrder({ topUp: 10n ** 15n, recipient });
	const orders = [delivered, bought, refunded, onOneChain, stillOpen, toppedUp, refusedTopUp];
	for (const order of orders) await actions.open(order);
	await actions.fill(toppedUp, 8_000_000n);
	await actions.fill(refusedTopUp, 8_000_000n);
	await actions.fill(delivered, 9_000_000n);
	await actions.fill(bought, 9_500_000n, { poolFee: 500 });
	await actions.fill(onOneChain, 9_900_000n);
	await actions.voidOrder(refunded);
	await actions.decide("Release", delivered);
	await actions.decide("Release", bought);
	await actions.decide("Refund", refunded);
	await actions.finalize();
	await followBoth();

	for (const { chain, postings } of [
		{ chain: origin, postings: 12 },
		{ chain: destination, postings: 6 },
	]) {
		const evm = connectChain(chain);
		const tokens = chain.deployment.assets.map((asset) => asset.address);
		const blockNumber = (await readHead(database.pool, chain.chainId))?.bookedNumber ?? 0;
		const { escrow, vault } = chain.deployment.contracts;
		for (const [account, holder] of [
			["escrow", escrow],
			["inventory", vault],
		] as const) {
			const held = await readBalances(evm, { holders: [holder], tokens, blockNumber });
			expect(await booked(chain, account)).toEqual(
				Object.fromEntries(tokens.map((token, i) => [token.toLowerCase(), held[i]]).filter(([, sum]) => sum)),
			);
		}
		const { rows: inventory } = await database.pool.query<{ balance: bigint; outflow_available: bigint }>(
			"select balance, outflow_available from inventory where chain_id = $1 and token = $2",
			[chain.chainId, hexToBytes(chain.deployment.settlementToken)],
		);
		const held = await tokenBalance(chain, { token: chain.deployment.settlementToken, holder: vault });
		expect(inventory[0]?.balance).toBe(held);
		expect(inventory[0]?.outflow_available).toBeGreaterThan(0n);
		const { rows } = await database.pool.query(
			"select from postings where chain_id = $1 and order_id = any($2)",
			[chain.chainId, orders.map((order) => hexToBytes(orderId(order)))],
		);
		expect(rows).toHaveLength(postings);
	}
	expect((await booked(destination, "trading"))[zeroAddress]).toBeLessThan(0n);
});

function tokenBalance(
	{ publicClient }: TestChain,
	{ token, holder }: { token: Address; holder: Address },
): Promise<bigint> {
	return publicClient.readContract({
		address: token,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [holder],
	});
}

async function booked(chain: TestChain, account: string): Promise<Record<string, bigint>> {
	const { rows } = await database.pool.query<{ token: Buffer; sum: bigint }>(
		`select token, sum(amount) as sum from entries where chain_id = $1 and account = $2
		group by token having sum(amount) <> 0`,
		[chain.chainId, account],
	);
	return Object.fromEntries(rows.map(({ token, sum }) => [bytesToHex(token), sum]));
}

test("a block without events of the service is applied with one statement", async () => {
	await followBoth();
	await forgetWork();
	// Everything done on the chain before must be final and in the books, and the cap on what leaves must be full again.
	// It fills by the second, so that blocks of one second would leave the rest of it to the next block.
	await chains.origin.testClient.mine({ blocks: 7, interval: 1 });
	await follow(chains.origin);
	await chains.origin.testClient.mine({ blocks: 1 });
	const asked = await statementsOf(() => follow(chains.origin));
	expect(asked.filter((text) => /^(apply|begin|insert|update|delete)/.test(text))).toEqual([
		"apply-quiet-block",
	]);
});

/** Deletes the jobs, waits and transactions of earlier tests, so that no work waits for a block. */
async function forgetWork(): Promise<void> {
	await database.owner.query("delete from waits; delete from lane_transactions; delete from jobs");
}

test("blocks without data of the service are skipped, and the inventory is that of the last one skipped", async () => {
	const { origin } = chains;
	await forgetWork();
	await follow(origin);
	// A balance that has changed is written again.
	await database.owner.query("update inventory set balance = balance + 1");
	await origin.testClient.mine({ blocks: 40, interval: 1 });
	const latest = Number(await origin.publicClient.getBlockNumber());
	const asked = await statementsOf(() => follow(origin));
	expect(asked.filter((text) => /^apply/.test(text))).toEqual(["apply-quiet-block", "apply-block"]);
	const { hash } = await origin.publicClient.getBlock({ blockNumber: BigInt(latest - 15) });
	expect(await readHead(database.pool, origin.chainId)).toMatchObject({ number: latest - 15, hash });
	const { rows } = await database.pool.query(
		"select distinct block_number::int as at from inventory where chain_id = $1",
		[origin.chainId],
	);
	expect(rows).toEqual([{ at: latest - 15 }]);
});

test("an event of the service between many empty blocks is not skipped", async () => {
	const { origin } = chains;
	await follow(origin);
	await origin.testClient.mine({ blocks: 40, interval: 1 });
	const order = await actions.makeOrder();
	await actions.open(order);
	await origin.testClient.mine({ blocks: 30, interval: 1 });
	await follow(origin);
	expect(await eventNames(order)).toEqual(["Opened"]);
});

test("a transaction of a lane that reverted between many empty blocks is not skipped, and those before it are", async () => {
	const { destination } = chains;
	await forgetWork();
	await follow(destination);
	await destination.testClient.mine({ blocks: 40, interval: 1 });
	const order = await actions.makeOrder();
	await queueJob(order, { kind: "fill", chain: destination });
	// The vault skips it, because it is more than may leave the vault at a time.
	const { transactionHash } = await actions.fill(order, parseUnits("3000000", 6));
	await journal(order, transactionHash, destination);
	await destination.testClient.mine({ blocks: 5 });
	const asked = await statementsOf(() => follow(destination));
	expect(asked.filter((text) => /^apply/.test(text)).length).toBeLessThan(25);
	const { rows } = await database.pool.query("select state from lane_transactions where hash = $1", [
		hexToBytes(transactionHash),
	]);
	expect(rows).toEqual([{ state: "final" }]);
});

test("after its first read, a follower sends no statement while there is no new block", async () => {
	await follow(chains.origin);
	const following = {
		chain: connectChain(chains.origin),
		pool: database.pool,
		engine: { startSwap: async () => {}, raise: async () => {}, poke: async () => {} },
		relayers: [],
		log: createLog({ level: "silent", process: "test" }),
		memory: {},
	};
	expect(await advance(following)).toBe(false);
	const again = async () => expect(await advance(following)).toBe(false);
	expect(await statementsOf(again)).toEqual([]);
	await chains.origin.testClient.mine({ blocks: 1 });
	expect(await advance(following)).toBe(true);
});
