import { randomUUID } from "node:crypto";
import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	fromWord,
	geoEscrowAbi,
	type Order,
	orderId,
	orderTerms,
	orderToJson,
	toWord,
} from "@geoswap/protocol";
import { pino } from "pino";
import {
	createWalletClient,
	custom,
	encodeFunctionData,
	type Hash,
	type Hex,
	HttpRequestError,
	hexToBytes,
	http,
	parseEther,
	RpcRequestError,
	type Transport,
	zeroAddress,
	zeroHash,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { orderActions } from "../../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { readHead } from "../../swap/due/chain-head.ts";
import { readUnreadBlocks } from "../../swap/due/unread-blocks.ts";
import { readFollowed } from "../../swap/pause/pause-list.ts";
import { advance, type FollowerMemory } from "./advance.ts";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
let clockMs = Date.now();
const logged: string[] = [];
const stranger = privateKeyToAccount(generatePrivateKey());

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = orderActions(chains);
	for (const { testClient } of [chains.origin, chains.destination]) {
		await testClient.setBalance({ address: stranger.address, value: parseEther("1000") });
	}
	await follow(chains.origin);
	await follow(chains.destination);
}, 120_000);
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});
beforeEach(() => {
	logged.length = 0;
});

async function follow(
	chain: TestChain,
	{ transport = http(chain.rpcUrl), memory = {} }: { transport?: Transport; memory?: FollowerMemory } = {},
): Promise<void> {
	const following = {
		chain: connectChain({ ...chain, transport }),
		pool: database.pool,
		engine: { poke: async () => {} },
		relayers: [actions.relayer.address],
		log: pino({ level: "error" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) }),
		nowMs: () => clockMs,
		memory,
	};
	while (await advance(following));
}

type Filter = { blockHash?: Hash; topics?: [Hex[], Hex[]?] };

/** A provider that changes or refuses what its node returns for logs. */
function provider(
	{ rpcUrl }: TestChain,
	judge: (filter: Filter, logs: { topics: Hex[] }[]) => string | { topics: Hex[] }[],
): Transport {
	const node = http(rpcUrl)({});
	const request = async (call: { method: string; params?: unknown }) => {
		const result = await node.request(call);
		if (call.method !== "eth_getLogs") return result;
		const [filter] = call.params as [Filter];
		const judged = judge(filter, result as { topics: Hex[] }[]);
		if (typeof judged !== "string") return judged;
		throw new RpcRequestError({ body: call, error: { code: -32_005, message: judged }, url: rpcUrl });
	};
	// The node refuses the same request each time, so that trying again takes time and shows nothing.
	return custom({ request }, { retryCount: 0 });
}

/** Puts transactions of a stranger and one of the service into one block. Returns the latter. */
async function inOneBlock(
	chain: TestChain,
	hostile: readonly { to?: Hex; data: Hex; value?: bigint; gas: bigint }[],
	ours: () => Promise<{ transactionHash: Hash; blockNumber: bigint }>,
): Promise<{ transactionHash: Hash; blockNumber: bigint }> {
	const { testClient, publicClient } = chain;
	const client = createWalletClient({ account: stranger, chain: chain.chain, transport: http(chain.rpcUrl) });
	const nonce = await publicClient.getTransactionCount({ address: stranger.address });
	await testClient.setAutomine(false);
	for (const [i, transaction] of hostile.entries()) {
		await client.sendTransaction({ ...transaction, to: transaction.to ?? null, nonce: nonce + i });
	}
	const sending = ours();
	await expect.poll(async () => (await testClient.getTxpoolStatus()).pending).toBe(hostile.length + 1);
	await testClient.mine({ blocks: 1 });
	await testClient.setAutomine(true);
	return sending;
}

async function insertSwap(order: Order): Promise<void> {
	const [id, order_id] = [fromSwapKey(order.swapKey), hexToBytes(orderId(order))];
	await database.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, $4, 1, 1000, '{"kind":"inventory","amount":"1"}')`,
		[id, randomUUID(), order_id, orderToJson(order)],
	);
	await database.owner.query("insert into waits (swap_id, order_id, due_at) values ($1, $2, 'infinity')", [
		id,
		order_id,
	]);
}

/** Writes the journal as if a lane had sent this transaction. */
async function journal(chain: TestChain, hash: Hash): Promise<void> {
	const { nonce } = await chain.publicClient.getTransaction({ hash });
	await database.owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block)
		values ($1, $2, $3, 0, $4, '', 'fill', '[]', 0, 'broadcast', 0)`,
		[chain.chainId, hexToBytes(actions.relayer.address), nonce, hexToBytes(hash)],
	);
}

async function eventNames(order: Order): Promise<string[]> {
	const { rows } = await database.pool.query<{ name: string }>(
		"select name from chain_events where order_id = $1 order by chain_id, block_number, log_index",
		[hexToBytes(orderId(order))],
	);
	return rows.map((row) => row.name);
}

async function isCaughtUp({ chainId, publicClient }: TestChain): Promise<boolean> {
	const { hash } = await publicClient.getBlock();
	return (await readHead(database.pool, chainId))?.hash === hash;
}

async function isUnread({ chainId }: TestChain): Promise<boolean | undefined> {
	const followed = await readFollowed(database.pool);
	return followed.find((chain) => chain.chainId === chainId)?.isUnread;
}

const unreadOf = ({ chainId }: TestChain) => readUnreadBlocks(database.pool, { chainId, limit: 10 });

/** Native orders of one wei that a stranger opens. */
async function dustOrders(
	chain: TestChain,
	count: number,
): Promise<{ to: Hex; data: Hex; value: bigint; gas: bigint }[]> {
	const base = await actions.makeOrder();
	return Array.from({ length: count }, (_, i) => ({
		to: chain.deployment.contracts.escrow,
		data: encodeFunctionData({
			abi: geoEscrowAbi,
			functionName: "open",
			args: [
				orderTerms({
					...base,
					inputToken: toWord(zeroAddress),
					inputAmount: 1n,
					swapKey: `0x${(BigInt(base.swapKey) + BigInt(i) + 1n).toString(16).padStart(64, "0")}`,
				}),
			],
		}),
		value: 1n,
		gas: 200_000n,
	}));
}

test("a delivery is found in a block that a third party fills with logs of its contract", async () => {
	const { destination } = chains;
	// JUMPDEST, 32 times (PUSH0 PUSH0 LOG0), PUSH2 18000, GAS, GT, PUSH1 0, JUMPI, STOP.
	const loop = `5b${"5f5fa0".repeat(32)}6146505a1160005700`;
	const size = (loop.length / 2).toString(16).padStart(4, "0");
	const client = createWalletClient({
		account: stranger,
		chain: destination.chain,
		transport: http(destination.rpcUrl),
	});
	const deployed = await destination.publicClient.waitForTransactionReceipt({
		hash: await client.sendTransaction({
			data: `0x61${size}600e60003961${size}6000f3${loop}`,
			gas: 2_000_000n,
		}),
		pollingInterval: 50,
	});
	const order = await actions.makeOrder();
	await insertSwap(order);
	const spam = { to: deployed.contractAddress as Hex, data: "0x", gas: 14_500_000n } as const;
	const { transactionHash } = await inOneBlock(destination, [spam], () => actions.fill(order, 1_000n));
	await journal(destination, transactionHash);
	await follow(destination);
	expect(await eventNames(order)).toEqual(["Filled"]);
	expect(await isCaughtUp(destination)).toBe(true);
	const { rows } = await database.pool.query(
		"select state, gas_cost > 0 as cost from lane_transactions where hash = $1",
		[hexToBytes(transactionHash)],
	);
	expect(rows).toEqual([{ state: "mined", cost: true }]);
});

test("a flood of Skipped events is not read, and hides no event of the same block", async () => {
	const { origin } = chains;
	const nothing: Order = {
		...(await actions.makeOrder()),
		originChainId: 0n,
		swapKey: zeroHash,
	};
	const count = 400;
	const digest = await origin.publicClient.readContract({
		address: origin.deployment.contracts.escrow,
		abi: geoEscrowAbi,
		functionName: "refundDigest",
		args: [Array<Hex>(count).fill(orderId(nothing))],
	});
	const attestation = {
		threshold: 1n,
		attesters: [stranger.address],
		signatures: [await stranger.sign({ hash: digest })],
	};
	const data = encodeFunctionData({
		abi: geoEscrowAbi,
		functionName: "refundMany",
		args: [Array(count).fill(nothing), attestation],
	});
	const order = await actions.makeOrder();
	await insertSwap(order);
	await actions.approve(order);
	const flood = { to: origin.deployment.contracts.escrow, data, gas: 7_000_000n };
	const { blockNumber } = await inOneBlock(origin, [flood, flood], () => actions.openApproved(order));
	const counted: number[] = [];
	const counting = provider(origin, (filter, logs) => {
		if (filter.blockHash) counted.push(logs.length);
		return logs;
	});
	const all = await origin.publicClient.getLogs({
		address: origin.deployment.contracts.escrow,
		fromBlock: blockNumber,
		toBlock: blockNumber,
	});
	expect(all.length).toBe(2 * count + 1);
	await follow(origin, { transport: counting });
	expect(Math.max(...counted)).toBe(1);
	expect(await eventNames(order)).toEqual(["Opened"]);
});

test("a flood of NotOpened events about an order is not read, and hides nothing that happens to the order in that block", async () => {
	const { origin } = chains;
	const { escrow } = origin.deployment.contracts;
	const order = await actions.makeOrder();
	await insertSwap(order);
	await actions.approve(order);
	const count = 100;
	// The order is not signed, and the wallet has no account that pays.
	const forged = {
		wallet: fromWord(order.wallet),
		gas: 30_000n,
		terms: orderTerms(order),
		proof: "0x",
	} as const;
	const data = encodeFunctionData({
		abi: geoEscrowAbi,
		functionName: "openMany",
		args: [Array(count).fill(forged)],
	});
	const flood = { to: escrow, data, gas: 7_000_000n };
	const { blockNumber } = await inOneBlock(origin, [flood, flood], () => actions.openApproved(order));
	const counted: number[] = [];
	const counting = provider(origin, (filter, logs) => {
		if (filter.blockHash) counted.push(logs.length);
		return logs;
	});
	const all = await origin.publicClient.getLogs({
		address: escrow,
		fromBlock: blockNumber,
		toBlock: blockNumber,
	});
	expect(all.length).toBe(2 * count + 1);
	await follow(origin, { transport: counting });
	expect(Math.max(...counted)).toBe(1);
	expect(await eventNames(order)).toEqual(["Opened"]);
});

test.each([
	{ cap: 1, dust: 5 },
	{ cap: 100, dust: 105 },
])(
	"with a provider that returns at most $cap logs, dust orders hide no deposit",
	async ({ cap, dust }) => {
		const { origin } = chains;
		const order = await actions.makeOrder();
		await insertSwap(order);
		await actions.approve(order);
		await inOneBlock(origin, await dustOrders(origin, dust), () => actions.openApproved(order));
		const refusals: number[] = [];
		const capped = provider(origin, (_, logs) => {
			if (logs.length <= cap) return logs;
			refusals.push(logs.length);
			return `query returned more than ${cap} results`;
		});
		await follow(origin, { transport: capped });
		expect(refusals.length).toBeGreaterThan(0);
		expect(await eventNames(order)).toEqual(["Opened"]);
		expect(await isCaughtUp(origin)).toBe(true);
		// The strangers' orders are requested again later, and the chain takes swaps meanwhile.
		expect((await unreadOf(origin)).map(({ isPartial }) => isPartial)).toContain(true);
		expect(await isUnread(origin)).toBe(false);
		expect(logged).toEqual([]);
		clockMs += 20_000;
		await origin.testClient.mine({ blocks: 1 });
		await follow(origin);
		expect(await unreadOf(origin)).toEqual([]);
	},
	120_000,
);

test("if no node returns a block's logs, the service's deliveries are still found, nothing new is sold, and the block is read later", async () => {
	const { destination } = chains;
	const [ours, late] = [await actions.makeOrder(), await actions.makeOrder()];
	await insertSwap(ours);
	const { transactionHash, blockNumber } = await actions.fill(ours, 1_000n);
	await journal(destination, transactionHash);
	// The journal of this one was lost, so only the logs show it.
	const { transactionHash: forgotten } = await actions.fill(late, 1_000n);
	const { hash: blockHash } = await destination.publicClient.getBlock({ blockNumber });
	const hashes = [
		blockHash,
		(await destination.publicClient.getTransactionReceipt({ hash: forgotten })).blockHash,
	];
	const silent = provider(destination, (filter, logs) =>
		filter.blockHash && !hashes.includes(filter.blockHash) ? logs : "the answer is too large",
	);
	const memory: FollowerMemory = {};
	await expect(follow(destination, { transport: silent, memory })).rejects.toThrow();
	expect(await eventNames(ours)).toEqual([]);
	clockMs += 20_000;
	await follow(destination, { transport: silent, memory });
	expect(await eventNames(ours)).toEqual(["Filled"]);
	expect(await eventNames(late)).toEqual([]);
	expect(await isCaughtUp(destination)).toBe(true);
	const unread = await unreadOf(destination);
	expect(unread.map(({ hash }) => hash)).toEqual(hashes);
	expect(unread[0]?.reason).toContain("the answer is too large");
	expect(logged).toContain(
		"a block is followed without all of its events; the chain takes no new swaps until a node returns them",
	);
	expect(await isUnread(destination)).toBe(true);

	await actions.finalize();
	clockMs += 20_000;
	await follow(destination, { memory });
	expect(await unreadOf(destination)).toEqual([]);
	expect(await isUnread(destination)).toBe(false);
	expect(await eventNames(late)).toEqual(["Filled"]);
	// Both are in the books, each once.
	const { rows } = await database.owner.query("select count(*)::int from postings where order_id = any($1)", [
		[ours, late].map((order) => hexToBytes(orderId(order))),
	]);
	expect(rows).toEqual([{ count: 2 }]);
});

test("a deposit that a node omits from its logs is found by the escrow's state, before its swap fails", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await insertSwap(order);
	await actions.open(order);
	const forgetful = provider(origin, (filter, logs) =>
		filter.blockHash ? logs.filter(({ topics }) => topics[1] !== orderId(order)) : logs,
	);
	await follow(origin, { transport: forgetful });
	expect(await eventNames(order)).toEqual([]);
	await actions.finalize();
	await follow(origin, { transport: forgetful });
	expect(await eventNames(order)).toEqual(["Opened"]);
	expect(logged).toContain("a node left events out of the logs of final blocks");
});

test("a deposit that no node ever returns keeps its swap from failing, and does not delay other swaps", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await insertSwap(order);
	await actions.open(order);
	const forgetful = provider(origin, (_, logs) => logs.filter(({ topics }) => topics[1] !== orderId(order)));
	await actions.finalize();
	await follow(origin, { transport: forgetful });
	const readCompared = async () => {
		const { rows } = await database.pool.query(
			`select compared_number = finalized_number as "isCompared",
				array(select '0x' || encode(id, 'hex') from unnest(unseen_orders) as id) as unseen
			from chain_heads where chain_id = $1`,
			[origin.chainId],
		);
		return rows[0];
	};
	expect(await readCompared()).toEqual({ isCompared: true, unseen: [orderId(order)] });
	expect(logged).toContain(
		"the contracts have decided orders whose events no node returns; add another node",
	);
	await origin.testClient.mine({ blocks: 1 });
	await follow(origin);
	expect(await readCompared()).toEqual({ isCompared: true, unseen: [] });
	expect(await eventNames(order)).toEqual(["Opened"]);
});

test("a short outage of a node hides no event, even of an order that the service does not know", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await actions.open(order);
	let failures = 0;
	const node = http(origin.rpcUrl)({});
	const unstable = custom({
		request: async (call) => {
			if (call.method !== "eth_getLogs" || failures >= 30) return node.request(call);
			failures++;
			throw new HttpRequestError({ status: 503, url: origin.rpcUrl });
		},
	});
	const memory: FollowerMemory = {};
	for (let i = 0; i < 40 && !(await isCaughtUp(origin)); i++) {
		await follow(origin, { transport: unstable, memory }).catch(() => {});
	}
	expect(failures).toBe(30);
	expect(await eventNames(order)).toEqual(["Opened"]);
	expect(await unreadOf(origin)).toEqual([]);
});

test("an order that is no longer missing, or whose swap has ended, does not keep the chain from accepting swaps", async () => {
	const { origin } = chains;
	const order = await actions.makeOrder();
	await insertSwap(order);
	await actions.open(order);
	await actions.finalize();
	const forgetful = provider(origin, (_, logs) => logs.filter(({ topics }) => topics[1] !== orderId(order)));
	await follow(origin, { transport: forgetful });
	expect(await isUnread(origin)).toBe(true);
	await database.owner.query("delete from waits");
	clockMs += 10_000;
	await origin.testClient.mine({ blocks: 1 });
	await follow(origin);
	expect(await isUnread(origin)).toBe(false);
});

test("data that a follower read of a block before the chain dropped it is not written", async () => {
	const { destination } = chains;
	const order = await actions.makeOrder();
	const { blockNumber } = await actions.fill(order, 1_000n);
	const { hash } = await destination.publicClient.getBlock({ blockNumber });
	const silent = provider(destination, (filter, logs) => (filter.blockHash === hash ? "too large" : logs));
	const memory: FollowerMemory = {};
	await expect(follow(destination, { transport: silent, memory })).rejects.toThrow();
	clockMs += 20_000;
	await follow(destination, { transport: silent, memory });
	expect(await unreadOf(destination)).toHaveLength(1);
	// Another follower undoes the block while this one waits for its logs.
	const late = provider(destination, (_, logs) => logs);
	const removing: Transport = (options) => {
		const { request, ...rest } = late(options);
		return {
			...rest,
			request: (async (call: { method: string; params?: unknown }) => {
				const [filter] = (call.params ?? []) as [Filter?];
				if (call.method === "eth_getLogs" && filter?.blockHash === hash) {
					await database.owner.query("delete from unread_blocks");
				}
				return request(call as never);
			}) as typeof request,
		};
	};
	clockMs += 20_000;
	await destination.testClient.mine({ blocks: 1 });
	await follow(destination, { transport: removing, memory });
	expect(await eventNames(order)).toEqual([]);
	expect(await unreadOf(destination)).toEqual([]);
});
