import { setImmediate } from "node:timers/promises";
import { devTokenAbi, startTestChains, startTestSolana, type TestChains } from "@geoswap/devnet";
import { fromSwapKey, orderId, orderToJson } from "@geoswap/protocol";
import { createDefaultRpcTransport, getBase58Decoder } from "@solana/kit";
import { type Address, encodeFunctionData, type Hex, hexToBytes, toBytes } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { assetAddress, orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertWait } from "../../test/swap/insert-wait.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { liftPauses, readPauses } from "../swap/pause/pauses.ts";
import { createLog } from "../telemetry/log.ts";
import { type AuditRun, keepAudited } from "./keep-audited.ts";

let chains: TestChains;
let database: TestDatabase;
const log = createLog({ level: "silent", process: "test" });
const config = {
	audit: { everySeconds: 1, wholeEverySeconds: 3_600, confirmSeconds: 0 },
};
const patience = { timeout: 60_000, interval: 20 };

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "auditor" })]);
	await follow();
}, 120_000);
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow(): Promise<void> {
	await orderActions(chains).finalize();
	for (const chain of [chains.origin, chains.destination]) {
		const engine = { poke: async () => {} };
		while (
			await advance({ chain: connectChain(chain), pool: database.pools.worker, engine, relayers: [], log })
		);
	}
}

/** Moves tokens out of the destination's vault in a way that no key could. */
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

test("a breach that is found twice pauses only its chain; once lifted it does not pause again unless it grows", async () => {
	const { pool } = database;
	const runs: AuditRun[] = [];
	const stopping = new AbortController();
	const { origin, destination } = chains;
	const audited = [1, 2].map(() =>
		keepAudited({
			config,
			earlierWorkersSeconds: 0,
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
	// Two workers take turns, and only one of them makes a full audit, once.
	expect(runs.filter(({ isWhole }) => isWhole)).toHaveLength(1);
	expect(await readPauses(pool)).toEqual([]);

	const paused = async () => (await readPauses(pool)).map(({ chainId, cause }) => [chainId, cause]);
	await steal(8n);
	await expect.poll(paused, patience).toEqual([[destination.chainId, "breach"]]);
	const [pause] = await readPauses(pool);
	expect(pause?.reason).toContain("I2");
	expect(pause?.breaches).toEqual([expect.stringContaining("hold 8 USDC less than in the books")]);
	// The breach is reported while it lasts, and no longer confirmed once the chain is paused for it.
	await more(3);
	expect(runs.slice(-2).map(({ isWhole }) => isWhole)).toEqual([false, false]);
	expect(runs.at(-1)?.report.breaches).toHaveLength(1);

	await liftPauses(database.owner, {
		chainId: destination.chainId,
		by: "ada",
		reason: "a test",
		nowMs: Date.now(),
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

test("a breach on an EVM chain pauses it, regardless of the number of third parties' transactions to the service's Solana addresses", async () => {
	const solana = await startTestSolana({ slotMs: 3_600_000 });
	const real = createDefaultRpcTransport({ url: solana.rpcUrl });
	const stopping = new AbortController();
	let listed = 0n;
	/** Lists an endless series of transactions that cannot be decoded. */
	const transport: typeof real = async (request) => {
		const { method, params, id } = request.payload as { method: string; params: [string]; id: string };
		stopping.signal.throwIfAborted();
		if (method === "getTransaction") {
			return { jsonrpc: "2.0", id, error: { code: -32_015, message: "of a newer version" } } as never;
		}
		if (method !== "getSignaturesForAddress" || params[0] !== solana.deployment.program.vault)
			return real(request);
		// No request leaves the process, so without this the event loop would never get to run timers.
		await setImmediate();
		const result = Array.from({ length: 1_000 }, () => ({
			signature: getBase58Decoder().decode(toBytes(++listed, { size: 64 })),
			err: null,
			memo: null,
			slot: 1n,
			blockTime: null,
			confirmationStatus: "finalized",
		}));
		return { jsonrpc: "2.0", id, result } as never;
	};
	const { origin, destination } = chains;
	const paused = async () => (await readPauses(database.pool)).map(({ chainId }) => chainId);
	const lift = { chainId: destination.chainId, by: "ada", reason: "a test", nowMs: Date.now() };
	await liftPauses(database.owner, lift);
	await steal(1n);
	const failures: (number | "all")[] = [];
	const audited = keepAudited({
		config,
		earlierWorkersSeconds: 0,
		books: { chains: [origin, destination], solana: { ...solana, transport }, earlierAttesterSets: [] },
		pool: database.pool,
		maxSolanaReads: 10,
		onFailure: (what) => failures.push(what),
		nowMs: Date.now,
		signal: stopping.signal,
		log,
	});
	try {
		await expect.poll(paused, { timeout: 30_000, interval: 20 }).toEqual([destination.chainId]);
		expect(failures).toContain(solana.deployment.chainId);
	} finally {
		stopping.abort();
		await audited;
		await solana.stop();
	}
}, 120_000);

test("a chain that does not respond pauses nothing and is counted as a failure, and the others are audited", async () => {
	const stopping = new AbortController();
	const failures: (number | "all")[] = [];
	const runs: AuditRun[] = [];
	const { origin, destination } = chains;
	const before = await readPauses(database.pool);
	const audited = keepAudited({
		config,
		earlierWorkersSeconds: 0,
		books: {
			chains: [origin, { chainId: 31_338, rpcUrl: "http://127.0.0.1:1", deployment: destination.deployment }],
			earlierAttesterSets: [],
		},
		pool: database.pool,
		onFailure: (what) => failures.push(what),
		onRun: (run) => {
			if (run) runs.push(run);
		},
		nowMs: Date.now,
		signal: stopping.signal,
		log,
	});
	await vi.waitUntil(() => runs.length >= 1, patience);
	expect(failures).toContain(31_338);
	expect(failures).not.toContain("all");
	expect(runs[0]?.report.chains.map(({ chainId }) => chainId)).toEqual([origin.chainId]);
	stopping.abort();
	await audited;
	expect(await readPauses(database.pool)).toEqual(before);
}, 120_000);

test("a decision by a departing worker's previous depths is no breach, and a later one is", async () => {
	const { origin, destination } = chains;
	const audited = async (earlierWorkersSeconds: number, atMs: number) => {
		const order = await orderActions(chains).makeOrder();
		const swapId = fromSwapKey(order.swapKey);
		const { pool, owner } = database;
		await owner.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery) values ($1, $2, $3, 0, 0, '{}')`,
			[swapId, hexToBytes(orderId(order)), orderToJson(order)],
		);
		await insertWait(owner, { swapId, orderId: orderId(order) });
		const deposit = { blockNumber: 100, headNumber: 102, finalizedNumber: 90, blocksNeeded: 2 };
		await owner.query("insert into swap_events (swap_id, at, fact, data) values ($1, $2, 'delivering', $3)", [
			swapId,
			new Date(atMs),
			{ deposit },
		]);
		const stopping = new AbortController();
		let found: string[] = [];
		await keepAudited({
			config,
			earlierWorkersSeconds,
			books: {
				chains: [origin, destination].map(({ chainId, rpcUrl, deployment }) => ({
					chainId,
					rpcUrl,
					deployment,
					depths: [{ upToUsd: 1_000, blocks: 3 }],
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
