import { devTokenAbi, startTestChains, type TestChains } from "@geoswap/devnet";
import { fromSwapKey, orderId, orderToJson } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { assetAddress, orderActions } from "../test/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../test/test-database.ts";
import { connectChain } from "./chain/evm/chain-client.ts";
import { advance } from "./follow/advance.ts";
import { type AuditRun, keepAudited } from "./keep-audited.ts";
import { createLog } from "./log.ts";
import { liftPauses, readPauses } from "./store/pauses.ts";

let chains: TestChains;
let database: TestDatabase;
const log = createLog({ level: "silent", process: "test" });
const config = {
	audit: { everySeconds: 1, wholeEverySeconds: 3_600, confirmSeconds: 0 },
	worker: { drainSeconds: 0 },
};
const patience = { timeout: 60_000, interval: 20 };

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	await follow();
}, 120_000);
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow(): Promise<void> {
	await orderActions(chains).finalize();
	for (const chain of [chains.origin, chains.destination]) {
		const engine = { startSwap: async () => {}, raise: async () => {}, poke: async () => {} };
		while (await advance({ chain: connectChain(chain), pool: database.pool, engine, relayers: [], log }));
	}
}

/** Moves tokens out of the destination's vault as no key can. */
async function steal(amount: bigint): Promise<void> {
	const { testClient, publicClient, deployment } = chains.destination;
	const from = deployment.contracts.vault;
	await testClient.impersonateAccount({ address: from });
	await testClient.setBalance({ address: from, value: 2n * 10n ** 21n });
	const data = encodeFunctionData({
		abi: devTokenAbi,
		functionName: "transfer",
		args: [orderActions(chains).relayer.address, amount],
	});
	const hash = await testClient.request<{
		Method: "eth_sendTransaction";
		Parameters: [{ from: Address; to: Address; data: Hex }];
		ReturnType: Hex;
	}>({
		method: "eth_sendTransaction",
		params: [{ from, to: assetAddress(chains.destination, "USDC"), data }],
	});
	await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 20 });
	await follow();
}

test("what is found twice pauses its chain alone; once lifted it pauses nothing again, and one that grew does", async () => {
	const { pool } = database;
	const runs: AuditRun[] = [];
	const stopping = new AbortController();
	const { origin, destination } = chains;
	const audited = [1, 2].map(() =>
		keepAudited({
			config,
			books: { chains: [origin, destination], earlierAttesterSets: [] },
			pool,
			onRun: (run) => {
				if (run) runs.push(run);
			},
			nowMs: Date.now,
			signal: stopping.signal,
			log,
		}),
	);
	const more = async (count: number) => {
		const before = runs.length;
		await vi.waitUntil(() => runs.length >= before + count, patience);
	};
	await more(3);
	// Of two that take turns only one reads all there is, once.
	expect(runs.filter(({ isWhole }) => isWhole)).toHaveLength(1);
	expect(await readPauses(pool)).toEqual([]);

	const paused = async () => (await readPauses(pool)).map(({ chainId, cause }) => [chainId, cause]);
	await steal(8n);
	await expect.poll(paused, patience).toEqual([[destination.chainId, "breach"]]);
	const [pause] = await readPauses(pool);
	expect(pause?.reason).toContain("I2");
	expect(pause?.breaches).toEqual([expect.stringContaining("hold 8 USDC less than the books say")]);
	// It is told as long as it is so, and what is paused for it already is not looked for again.
	await more(3);
	expect(runs.slice(-2).map(({ isWhole }) => isWhole)).toEqual([false, false]);
	expect(runs.at(-1)?.report.breaches).toHaveLength(1);

	await liftPauses(pool, {
		...{ chainId: destination.chainId, by: "ada", reason: "a test", nowMs: Date.now() },
	});
	await more(3);
	expect(await paused()).toEqual([]);
	expect(runs.at(-1)?.report.breaches).toHaveLength(1);
	expect(runs.at(-1)?.isWhole).toBe(false);

	await steal(1n);
	await expect.poll(paused, patience).toEqual([[destination.chainId, "breach"]]);
	stopping.abort();
	await Promise.all(audited);
}, 240_000);

test("a chain that does not answer pauses nothing, and is counted", async () => {
	const stopping = new AbortController();
	let failures = 0;
	const { origin, destination } = chains;
	const before = await readPauses(database.pool);
	const audited = keepAudited({
		config,
		books: {
			chains: [origin, { chainId: 31_338, rpcUrl: "http://127.0.0.1:1", deployment: destination.deployment }],
			earlierAttesterSets: [],
		},
		pool: database.pool,
		onFailure: () => {
			failures += 1;
		},
		nowMs: Date.now,
		signal: stopping.signal,
		log,
	});
	await vi.waitUntil(() => failures >= 1, patience);
	stopping.abort();
	await audited;
	expect(await readPauses(database.pool)).toEqual(before);
}, 120_000);

test("what a worker that leaves decides by depths of before is no breach, and what is decided later is", async () => {
	const { origin, destination } = chains;
	const audited = async (drainSeconds: number, atMs: number) => {
		const order = await orderActions(chains).makeOrder();
		const swapId = fromSwapKey(order.swapKey);
		const { pool } = database;
		await pool.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery) values ($1, $2, $3, 0, 0, '{}')`,
			[swapId, hexToBytes(orderId(order)), orderToJson(order)],
		);
		const deposit = { blockNumber: 100, headNumber: 102, finalizedNumber: 90, blocksNeeded: 2 };
		await pool.query("insert into swap_events (swap_id, at, fact, data) values ($1, $2, 'delivering', $3)", [
			swapId,
			new Date(atMs),
			{ deposit },
		]);
		const stopping = new AbortController();
		let found: string[] = [];
		await keepAudited({
			config: { ...config, worker: { drainSeconds } },
			books: {
				chains: [origin, destination].map(({ chainId, rpcUrl, deployment }) => ({
					...{ chainId, rpcUrl, deployment, depths: [{ upToUsd: 1_000, blocks: 3 }] },
				})),
				earlierAttesterSets: [],
			},
			pool,
			onRun: (run) => {
				if (!run) return;
				found = run.report.breaches.filter((breach) => breach.swapId === swapId).map((one) => one.invariant);
				stopping.abort();
			},
			nowMs: Date.now,
			signal: stopping.signal,
			log,
		});
		return found;
	};
	expect(await audited(3_600, Date.now() + 600_000)).toEqual([]);
	expect(await audited(300, Date.now() + 600_000)).toEqual(["I6"]);
}, 120_000);
