import { startTestChains, type TestChains } from "@geoswap/devnet";
import { type Address, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { moveIdOf, moveRows } from "../../test/treasury/move-rows.ts";
import { treasurerActions } from "../../test/treasury/treasurer-actions.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { post } from "../money/ledger/post.ts";
import { createLog } from "../telemetry/log.ts";
import { reconcile } from "./reconcile.ts";

let chains: TestChains;
let actions: Awaited<ReturnType<typeof treasurerActions>>;
let rows: ReturnType<typeof moveRows>;
let database: TestDatabase;
let usdc: Address;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = await treasurerActions(chains);
	rows = moveRows(database.pool, { chains, actions });
	usdc = assetAddress(chains.origin, "USDC");
	await follow();
});
afterAll(async () => {
	await actions?.stop();
	await database?.drop();
	await chains?.stop();
});

/** Follows both chains until everything that happened is final and booked, and balances are compared. */
async function follow(): Promise<void> {
	await orderActions(chains).finalize();
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

async function audit() {
	await follow();
	return reconcile({
		pool: database.pools.auditor,
		chains: [chains.origin, chains.destination],
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
}

async function breaches() {
	const report = await audit();
	return report.breaches.map(({ invariant, chainIds, amount, pauses }) => [
		invariant,
		chainIds,
		amount,
		pauses,
	]);
}

async function bridged(): Promise<bigint> {
	const { rows: sums } = await database.owner.query<{ sum: string }>(
		"select coalesce(sum(balance), 0)::text as sum from ledger_balances where account = 'bridge'",
	);
	return BigInt(sums[0]?.sum ?? 0);
}

test("a bridge is in the books at each of its states, and they close when it has arrived", async () => {
	const { id, transactionHash } = await rows.burn("first", 1_000_000n);
	expect(await breaches()).toEqual([]);
	expect(await bridged()).toBe(1_000_000n);

	await follow();
	await rows.arrive(id, transactionHash, 1_000_000n);
	expect(await breaches()).toEqual([]);
	expect(await bridged()).toBe(1_000_000n);

	await rows.change(id, "arrived", "final");
	const report = await audit();
	expect(report.breaches).toEqual([]);
	expect(report.checked.T4).toBe(1);
	expect(await bridged()).toBe(0n);
});

test("an amount that is booked as between chains without a move is found, and pauses nothing", async () => {
	const { chainId } = chains.destination;
	const token = assetAddress(chains.destination, "USDC");
	await post(database.owner, [
		{
			key: "a mistake",
			chainId,
			blockNumber: 1,
			name: "mistake",
			orderId: undefined,
			entries: [
				{ account: "bridge", token, amount: 5n },
				{ account: "loss", token, amount: -5n },
			],
		},
	]);
	expect(await breaches()).toEqual([["T4", [chainId], "5", false]]);
	await post(database.owner, [
		{
			key: "its correction",
			chainId,
			blockNumber: 1,
			name: "correction",
			orderId: undefined,
			entries: [
				{ account: "bridge", token, amount: -5n },
				{ account: "loss", token, amount: 5n },
			],
		},
	]);
	expect(await breaches()).toEqual([]);
});

test("an arrival that is booked with another amount than its row has is found", async () => {
	const { id, transactionHash } = await rows.burn("second", 2_000_000n);
	await follow();
	await rows.arrive(id, transactionHash, 2_000_000n);
	await rows.change(id, "arrived", "final");
	expect(await breaches()).toEqual([]);
	const receive = (amount: bigint) =>
		database.owner.query("update treasury_moves set received = $2, min_received = $2 where id = $1", [
			id,
			amount,
		]);
	await receive(2_000_007n);
	expect(await breaches()).toEqual([["T4", [chains.destination.chainId], "7", false]]);
	await receive(2_000_000n);
	expect(await breaches()).toEqual([]);
});

test("a bridge that is final in its row and never left the vault is found", async () => {
	const moveId = moveIdOf("third");
	const id = await rows.queue({ moveId, amount: 3_000_000n });
	await rows.change(id, "queued", "final", { received: 3_000_000n });
	expect(await breaches()).toEqual([["T4", [chains.origin.chainId], "3000000", undefined]]);
	await database.owner.query("delete from treasury_moves where id = $1", [id]);
	expect(await breaches()).toEqual([]);
});

test("a bridge that delivered less than its row demands is found", async () => {
	const { id, transactionHash } = await rows.burn("fourth", 4_000_000n, 4_000_001n);
	await follow();
	await rows.arrive(id, transactionHash, 4_000_000n);
	await rows.change(id, "arrived", "final");
	const chainIds = [chains.origin.chainId, chains.destination.chainId];
	expect(await breaches()).toEqual([["T4", chainIds, "1", undefined]]);
	await database.owner.query("update treasury_moves set min_received = received where id = $1", [id]);
	expect(await breaches()).toEqual([]);
});

test("a trade that brought less than its row demands is found", async () => {
	const moveId = moveIdOf("fifth");
	const amount = 10n ** 15n;
	const id = await rows.queue({
		kind: "trade",
		moveId,
		token: zeroAddress,
		toChainId: chains.origin.chainId,
		toToken: usdc,
		amount,
		minReceived: 1n,
	});
	const { block } = await actions.trade({ moveId, amount });
	await rows.change(id, "queued", "final", { moved_block: block });
	expect(await breaches()).toEqual([]);
	const { rows: traded } = await database.owner.query<{ received: string }>(
		"select data->>'amountOut' as received from chain_events where name = 'Traded'",
	);
	const received = BigInt(traded[0]?.received ?? 0);
	await database.owner.query("update treasury_moves set min_received = $2 where id = $1", [
		id,
		received + 9n,
	]);
	expect(await breaches()).toEqual([["T4", [chains.origin.chainId], "9", undefined]]);
});
