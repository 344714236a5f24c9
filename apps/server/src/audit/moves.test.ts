import { startTestChains, type TestChains } from "@geoswap/devnet";
import { type Address, type Hex, keccak256, toHex, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { treasurerActions } from "../../test/treasury/treasurer-actions.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { post } from "../money/ledger/post.ts";
import {
	changeMove,
	type MoveChange,
	type MoveState,
	type NewMove,
	queueMove,
} from "../money/move/treasury-moves.ts";
import { createLog } from "../telemetry/log.ts";
import { reconcile } from "./reconcile.ts";

let chains: TestChains;
let actions: Awaited<ReturnType<typeof treasurerActions>>;
let database: TestDatabase;
let usdc: Address;
let vault: Address;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = await treasurerActions(chains);
	usdc = assetAddress(chains.origin, "USDC");
	({ vault } = chains.origin.deployment.contracts);
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

const moveIdOf = (name: string) => keccak256(toHex(name));

async function queue(move: Pick<NewMove, "moveId" | "amount"> & Partial<NewMove>): Promise<string> {
	const id = await queueMove(database.pool, {
		kind: "bridge",
		chainId: chains.origin.chainId,
		holder: vault,
		token: usdc,
		address: actions.route,
		toChainId: chains.destination.chainId,
		toToken: assetAddress(chains.destination, "USDC"),
		minReceived: move.amount,
		nth: 0,
		data: {},
		reason: "a test",
		dueAtMs: Date.now() + 3_600_000,
		...move,
	});
	if (!id) throw new Error("the move is not queued");
	return id;
}

async function change(id: string, from: MoveState, to: MoveState, set: MoveChange = {}): Promise<void> {
	expect(await changeMove(database.pool, { id, from, to, set })).toBe(true);
}

async function bridged(): Promise<bigint> {
	const { rows } = await database.owner.query<{ sum: string }>(
		"select coalesce(sum(balance), 0)::text as sum from ledger_balances where account = 'bridge'",
	);
	return BigInt(rows[0]?.sum ?? 0);
}

async function burn(name: string, amount: bigint, minReceived = amount) {
	const moveId = moveIdOf(name);
	const id = await queue({ moveId, amount, minReceived });
	const { transactionHash, block } = await actions.bridge({ moveId, amount });
	await change(id, "queued", "moved", {
		transaction_hash: Buffer.from(transactionHash.slice(2), "hex"),
		moved_block: block,
	});
	return { id, transactionHash };
}

async function arrive(id: string, transactionHash: Hex, received: bigint): Promise<void> {
	await follow();
	const { block, transactionHash: mint } = await actions.mint(transactionHash);
	await change(id, "moved", "arrived", {
		received,
		arrived_block: block,
		arrived_transaction: Buffer.from(mint.slice(2), "hex"),
	});
}

test("a bridge is in the books at each of its states, and they close when it has arrived", async () => {
	const { id, transactionHash } = await burn("first", 1_000_000n);
	expect(await breaches()).toEqual([]);
	expect(await bridged()).toBe(1_000_000n);

	await arrive(id, transactionHash, 1_000_000n);
	expect(await breaches()).toEqual([]);
	expect(await bridged()).toBe(1_000_000n);

	await change(id, "arrived", "final");
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
	const { id, transactionHash } = await burn("second", 2_000_000n);
	await arrive(id, transactionHash, 2_000_000n);
	await change(id, "arrived", "final");
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
	const id = await queue({ moveId, amount: 3_000_000n });
	await change(id, "queued", "final", { received: 3_000_000n });
	expect(await breaches()).toEqual([["T4", [chains.origin.chainId], "3000000", undefined]]);
	await database.owner.query("delete from treasury_moves where id = $1", [id]);
	expect(await breaches()).toEqual([]);
});

test("a bridge that delivered less than its row demands is found", async () => {
	const { id, transactionHash } = await burn("fourth", 4_000_000n, 4_000_001n);
	await arrive(id, transactionHash, 4_000_000n);
	await change(id, "arrived", "final");
	const chainIds = [chains.origin.chainId, chains.destination.chainId];
	expect(await breaches()).toEqual([["T4", chainIds, "1", undefined]]);
	await database.owner.query("update treasury_moves set min_received = received where id = $1", [id]);
	expect(await breaches()).toEqual([]);
});

test("a trade that brought less than its row demands is found", async () => {
	const moveId = moveIdOf("fifth");
	const amount = 10n ** 15n;
	const id = await queue({
		kind: "trade",
		moveId,
		token: zeroAddress,
		toChainId: chains.origin.chainId,
		toToken: usdc,
		amount,
		minReceived: 1n,
	});
	const { block } = await actions.trade({ moveId, amount });
	await change(id, "queued", "final", { moved_block: block });
	expect(await breaches()).toEqual([]);
	const { rows } = await database.owner.query<{ received: string }>(
		"select data->>'amountOut' as received from chain_events where name = 'Traded'",
	);
	const received = BigInt(rows[0]?.received ?? 0);
	await database.owner.query("update treasury_moves set min_received = $2 where id = $1", [
		id,
		received + 9n,
	]);
	expect(await breaches()).toEqual([["T4", [chains.origin.chainId], "9", undefined]]);
});
