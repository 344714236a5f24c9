import { geoVaultAbi, type Order, orderId, type SwapUuid } from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
	createLaneScene,
	followHead,
	type LaneScene,
	queueFill as queueFillOf,
	readJob,
} from "../../test/lane/lane-scene.ts";
import { startLane } from "../../test/lane/start-lane.ts";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import type { DatabasePool } from "../database/database.ts";
import { withdrawJobs } from "../job/queue-jobs.ts";

const amount = 9_950_000n;
const isFull = Boolean(process.env.GEOSWAP_FULL);

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
	await followHead(scene.pool, scene.origin);
});
beforeEach(async () => {
	await scene.owner.query("truncate jobs");
	await scene.pool.query("update lane_transactions set state = 'final'");
});
afterAll(() => scene.stop());

/** Functions that run around the calls that a lane makes. */
type Hooks = {
	/** Before each call to a node. */
	node?: (method: string) => Promise<void>;
	beforeSigning?: () => Promise<void>;
	/** Before each statement. */
	statement?: (text: string) => Promise<void>;
};

/** A process with all lanes of the destination. */
function startLanes({ node, beforeSigning, statement }: Hooks = {}) {
	const chain: EvmChain = scene.destination;
	const request = async (call: { method: string }) => {
		await node?.(call.method);
		return chain.client.request(call as never);
	};
	const simulateBlocks = (async (...args: Parameters<typeof chain.client.simulateBlocks>) => {
		await node?.("eth_simulateV1");
		return chain.client.simulateBlocks(...args);
	}) as typeof chain.client.simulateBlocks;
	const hooked = { ...chain, client: { ...chain.client, request, simulateBlocks } as typeof chain.client };
	return startLane(scene, hooked, {
		policy: { bundleSize: 3 },
		accounts: scene.relayers.map((account) => ({
			...account,
			signTransaction: (async (...args: Parameters<typeof account.signTransaction>) => {
				await beforeSigning?.();
				return account.signTransaction(...args);
			}) as typeof account.signTransaction,
		})),
		pool: new Proxy(scene.pool, {
			get: (target, name) => {
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== "function") return value;
				if (name !== "query") return value.bind(target);
				return async (...query: [string | { text: string }, ...unknown[]]) => {
					const [first] = query;
					await statement?.(typeof first === "string" ? first : first.text);
					return value.apply(target, query);
				};
			},
		}) as DatabasePool,
	});
}

test(
	"no nonce and no job is signed twice, regardless of how the runs of lanes interleave, even if leases expire",
	async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.nat({ max: 60 }), { minLength: 20, maxLength: 40 }),
				fc.array(fc.constantFrom(0, 0, 0, 1), { minLength: 3, maxLength: 5 }),
				fc.nat({ max: 3 }),
				async (delays, relayers, expiries) => {
					await scene.owner.query("truncate jobs");
					await scene.pool.query("update lane_transactions set state = 'final'");
					const fills: Awaited<ReturnType<typeof queueFill>>[] = [];
					for (let i = 0; i < 8; i++) fills.push(await queueFill());
					await followHead(scene.pool, scene.destination);
					let turn = 0;
					const pause = async () => {
						const ms = delays[turn++ % delays.length] ?? 0;
						if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
					};
					const runs = relayers.map((relayer) =>
						startLanes({ node: pause, beforeSigning: pause, statement: pause })(relayer),
					);
					const expiring = (async () => {
						for (let i = 0; i < expiries; i++) {
							await pause();
							await expire();
						}
					})();
					await Promise.all([...runs, expiring]);
					await expire();
					// The next runs do what the earlier ones left undone. Some of it waits for a block. While anvil mines, it may
					// simulate on the new state with the time of the block before, and then the vault pays nothing.
					await expect
						.poll(async () => {
							await scene.chains.destination.testClient.mine({ blocks: 1 });
							await followHead(scene.pool, scene.destination);
							for (const relayer of [0, 1]) await startLanes()(relayer);
							const { rows: unsigned } = await scene.owner.query(
								"select swap_id, state, reason, failures, alone, not_before_block, lease from jobs where state <> 'sent'",
							);
							return unsigned;
						})
						.toEqual([]);
					const { rows } = await journalled();
					const places = rows.map(
						({ relayer, nonce, attempt }) => `${relayer.toString("hex")}:${nonce}:${attempt}`,
					);
					expect(new Set(places).size).toBe(places.length);
					expect(rows.every(({ attempt }) => attempt === 0)).toBe(true);
					const signed = rows.flatMap(({ jobs }) => jobs.map(({ swapId }) => swapId));
					expect(signed.toSorted()).toEqual(fills.map(({ swapId }) => swapId).toSorted());
					await expect
						.poll(() => Promise.all(fills.map(({ order }) => vaultState(order))), { timeout: 10_000 })
						.toEqual(fills.map(() => 1));
				},
			),
			{ numRuns: isFull ? 60 : 6, endOnFailure: true },
		);
	},
	isFull ? 600_000 : 120_000,
);

/** The points at which a process dies. The call at that point is not made, and never returns. */
const deaths: Record<string, (die: () => Promise<never>) => Hooks> = {
	"before it simulates": (die) => ({
		node: async (method) => {
			if (method === "eth_simulateV1") await die();
		},
	}),
	"before it signs": (die) => ({ beforeSigning: die }),
	"before it journals": (die) => ({
		statement: async (text) => {
			if (text.includes("insert into lane_transactions")) await die();
		},
	}),
	"before it sends": (die) => ({
		node: async (method) => {
			if (method === "eth_sendRawTransaction") await die();
		},
	}),
	"before it records the send": (die) => ({
		statement: async (text) => {
			if (text.includes("set state = 'broadcast'")) await die();
		},
	}),
};

test.each(Object.keys(deaths))("a fill whose lane dies %s is paid once, by the next run", async (name) => {
	const { order, swapId } = await queueFill();
	await followHead(scene.pool, scene.destination);
	const died = Promise.withResolvers<void>();
	const die = () => {
		died.resolve();
		return new Promise<never>(() => {});
	};
	void startLanes(deaths[name]?.(die))(0);
	await died.promise;
	const isJournalled = (await journalled()).rows.length === 1;
	expect((await readJob(scene.pool, swapId, "fill")).state).toBe(isJournalled ? "sent" : "queued");
	if (!isJournalled) {
		// No other lane takes the job until its lease expires.
		await startLanes()(1);
		expect((await journalled()).rows).toEqual([]);
		await expire();
	}
	await startLanes()(0);
	await expect.poll(() => vaultState(order), { timeout: 10_000 }).toBe(1);
	const { rows } = await journalled();
	// The nonce of a transaction whose send was not recorded is spent already, and the follower will find it in its
	// block.
	const state = name === "before it records the send" ? "signed" : "broadcast";
	expect(rows).toMatchObject([{ attempt: 0, state, jobs: [{ swapId }] }]);
});

const changes: Record<string, (fill: { order: Order; swapId: SwapUuid }) => Promise<unknown>> = {
	"the chain dropped the deposit": ({ order }) =>
		scene.owner.query("delete from chain_events where order_id = $1", [idOf(order)]),
	"the deposit is in another block": ({ order }) =>
		scene.owner.query("update chain_events set block_hash = 'other' where order_id = $1", [idOf(order)]),
	"blocks above the deposit were dropped": () =>
		scene.owner.query("update chain_heads set number = number - 1 where chain_id = $1", [
			scene.origin.chainId,
		]),
	"less is reserved": ({ swapId }) =>
		scene.owner.query("update reservations set amount = amount - 1 where swap_id = $1", [swapId]),
	"nothing is reserved": ({ swapId }) =>
		scene.owner.query("delete from reservations where swap_id = $1", [swapId]),
	"the output was delivered": ({ order }) =>
		scene.owner.query(
			"insert into chain_events select chain_id, block_number, 999, block_hash, transaction_hash, contract, order_id, 'Filled', '{}' from chain_events where order_id = $1",
			[idOf(order)],
		),
	"the job is withdrawn": ({ swapId }) => withdrawJobs(scene.pool, [{ swapId, kind: "fill" }]),
	"the order is filled by a third party": ({ swapId }) =>
		scene.pool.query("update jobs set state = 'done' where swap_id = $1", [swapId]),
	"another lane has the job": ({ swapId }) =>
		scene.pool.query("update jobs set lease = lease + 1 where swap_id = $1", [swapId]),
	"the lease is over": () => expire(),
};

test.each(Object.keys(changes))("a fill is not journalled if, while it is signed, %s", async (name) => {
	const fill = await queueFill();
	const other = await queueFill();
	await followHead(scene.pool, scene.origin);
	await followHead(scene.pool, scene.destination);
	let isChanged = false;
	const atFirst: { journal: unknown[] } = { journal: [] };
	await startLanes({
		beforeSigning: async () => {
			if (!isChanged) await changes[name]?.(fill);
			isChanged = true;
		},
		statement: async (text) => {
			// This runs between the discarded attempt and the next one.
			if (isChanged && text.includes("update lanes set lease"))
				atFirst.journal.push((await journalled()).rows);
		},
	})(0);
	expect(isChanged).toBe(true);
	expect(atFirst.journal[0]).toEqual([]);
	// The other fill of the bundle is signed again in the same run, without this one if it may not be paid.
	expect((await readJob(scene.pool, other.swapId, "fill")).state).toBe("sent");
});

/** Lets every lease expire. */
async function expire(): Promise<void> {
	await scene.pool.query(
		"update jobs set leased_until = now() - interval '1 second' where leased_until is not null",
	);
}

function journalled() {
	return scene.pool.query<{
		relayer: Buffer;
		nonce: number;
		attempt: number;
		state: string;
		jobs: { swapId: SwapUuid }[];
	}>("select * from lane_transactions where chain_id = $1 and state <> 'final' order by relayer, nonce", [
		scene.destination.chainId,
	]);
}

/** Queues a fill. Nothing makes blocks on the origin, so an order's times count from the start of the test. */
const queueFill = () => queueFillOf(scene, { amount, fillSeconds: 3_600n });

function vaultState(order: Order): Promise<number> {
	return scene.destination.client.readContract({
		address: scene.destination.deployment.contracts.vault,
		abi: geoVaultAbi,
		functionName: "orderState",
		args: [orderId(order)],
	});
}

function idOf(order: Order): Uint8Array {
	return hexToBytes(orderId(order) as Hex);
}
