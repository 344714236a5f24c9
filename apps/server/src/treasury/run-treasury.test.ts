import { randomBytes, randomUUID } from "node:crypto";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import { pino } from "pino";
import { type Address, bytesToHex, getAddress, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readTestPrices, testConfig, testPriceCache } from "../../test/desk/test-prices.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertTestSwap } from "../../test/swap/insert-test-swap.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { readInventory } from "../chain/evm/read/read-balances.ts";
import type { BlockPrices } from "../chain/evm/read/read-block-prices.ts";
import { readTreasury } from "../chain/evm/read/read-treasury.ts";
import type { Config } from "../config/config.ts";
import { createDesk } from "../desk/create-desk.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import { saveInventory } from "../money/inventory/inventory-balance.ts";
import { keepFreeInventory } from "../money/inventory/keep-free-inventory.ts";
import { declareFlow } from "../money/move/declared-flows.ts";
import { pauseChain } from "../swap/pause/pauses.ts";
import { planOnce, runTreasury, type TreasuryDeps } from "./run-treasury.ts";
import { readNewestPlan, type StoredPlan } from "./stored-plan.ts";

const usdc = 1_000_000n;
const relayer: Address = getAddress(`0x${"78".repeat(20)}`);
const log = pino({ level: "silent" });

let chains: TestChains;
let database: TestDatabase;
let config: Config;
let prices: BlockPrices[];
let priceCache: PriceCache;
let nowMs: number;
let readChain: TreasuryDeps["readChain"];
/** Chains whose node does not answer. */
const silent = new Set<number>();

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	const all = [chains.origin, chains.destination];
	const plain = testConfig(chains);
	config = {
		...plain,
		chains: plain.chains.map((chain) => ({ ...chain, inventoryTargetUsd: 20_000 })),
	};
	const connected = config.chains.map((chain, i) => {
		const rpcUrl = all[i]?.rpcUrl;
		if (chain.kind === "solana" || !rpcUrl) throw new Error("the test has two EVM chains");
		return connectChain({ chainId: chain.chainId, rpcUrl, deployment: chain.deployment });
	});
	prices = await Promise.all(all.map((chain) => readTestPrices(chain)));
	nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000;
	priceCache = testPriceCache(config, prices, { nowMs });
	for (const chain of connected) {
		const blockNumber = Number(await chain.client.getBlockNumber());
		const inventory = await readInventory(chain, { blockNumber });
		await saveInventory(database.pool, { chainId: chain.chainId, blockNumber, inventory });
	}
	readChain = async (chainId) => {
		const chain = connected.find((one) => one.chainId === chainId);
		if (!chain || silent.has(chainId)) throw new Error("the node does not answer");
		return readTreasury(chain, { relayers: [relayer] });
	};
});
afterAll(async () => {
	await chains?.stop();
	await database?.drop();
});
beforeEach(async () => {
	silent.clear();
	await database.owner.query(
		"truncate treasury_plans, treasury_moves, demand, lane_transactions, chain_heads",
	);
	await database.owner.query("update inventory set reserved = 0");
	for (const { chainId } of config.chains) {
		await database.owner.query(
			`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
				booked_number, updated_at)
			values ($1, 1, '', $2, 1, 1, 1, 1, now())`,
			[chainId, Math.floor(nowMs / 1_000)],
		);
		await hold(chainId, 20_000n * usdc);
	}
});

const [originId, destinationId] = [31_337, 31_338];

function settlementOf(chainId: number): Address {
	const chain = [chains.origin, chains.destination].find((one) => one.chainId === chainId);
	if (!chain) throw new Error(`no chain ${chainId}`);
	return chain.deployment.settlementToken;
}

async function hold(chainId: number, balance: bigint): Promise<void> {
	await database.owner.query(
		"update inventory set balance = $3, outflow_available = $3, reserved = 0 where chain_id = $1 and token = $2",
		[chainId, hexToBytes(settlementOf(chainId)), balance],
	);
}

async function request(chainId: number, outflow: bigint): Promise<void> {
	await database.owner.query(
		"insert into demand (chain_id, token, minute, outflow) values ($1, $2, to_timestamp($3), $4)",
		[chainId, hexToBytes(settlementOf(chainId)), nowMs / 1_000 - 60, outflow],
	);
}

function makePlan(change: Partial<Config> = {}): Promise<StoredPlan> {
	const { pool } = database;
	return planOnce({ pool, config: { ...config, ...change }, priceCache, readChain, nowMs: () => nowMs, log });
}

const settlementIn = (plan: StoredPlan, chainId: number) =>
	plan.chains.find((chain) => chain.chainId === chainId)?.tokens[0];

test("what real chains and rows show becomes a stored plan that fills the empty vault, and quotes to it cost more", async () => {
	await hold(destinationId, 500n * usdc);
	const made = await makePlan();
	const bridge = made.moves.find(({ kind }) => kind === "bridge");
	// A chain needs a quarter of its target at least.
	expect(bridge).toMatchObject({
		chainId: originId,
		toChainId: destinationId,
		amount: String(4_500n * usdc),
	});
	expect(bridge?.reason).toMatch(/needs 5,000 USDC and has 500 USDC, while .* can spare 15,000 USDC/);
	expect(made.chains.map(({ status }) => status)).toEqual(["open", "open"]);
	expect(settlementIn(made, destinationId)).toMatchObject({
		held: String(500n * usdc),
		free: String(500n * usdc),
		needed: String(5_000n * usdc),
		target: String(20_000n * usdc),
		arriving: "0",
	});
	expect(settlementIn(made, destinationId)?.moveCostBps).toBeGreaterThan(0);
	const stored = await readNewestPlan(database.pools.console);
	expect(stored).toEqual({ at: new Date(nowMs), plan: made });

	const inventory = await keepFreeInventory({ db: database.pools.api, everyMs: 2 ** 30, nowMs: () => nowMs });
	const quoteTo = (destinationChain: number, reading?: typeof inventory) =>
		createDesk({
			config,
			priceCache,
			...(reading && { inventory: reading }),
			nowMs: () => nowMs,
			random: randomBytes,
		}).quote(
			{
				originChain: originId + destinationId - destinationChain,
				destinationChain,
				inputToken: settlementOf(originId + destinationId - destinationChain),
				outputToken: settlementOf(destinationChain),
				amount: 50n * usdc,
				walletAddress: relayer,
				recipient: undefined,
				slippageBps: undefined,
			},
			{ accountId: randomUUID() },
		);
	expect(quoteTo(destinationId, inventory).skewCentibps).toBeGreaterThan(0);
	expect(quoteTo(originId, inventory).skewCentibps).toBeLessThan(0);
	expect(quoteTo(destinationId).skewCentibps).toBe(0);
	await inventory.close();
});

test("demand raises a need, and reservations, queued moves and declared withdrawals lower what is free", async () => {
	await request(destinationId, 400_000n * usdc);
	await database.owner.query("update inventory set reserved = $2 where chain_id = $1 and balance > $2", [
		originId,
		1_000n * usdc,
	]);
	const { vault } = chains.origin.deployment.contracts;
	const flow = {
		chainId: originId,
		token: settlementOf(originId),
		holder: vault,
		by: "ada",
		reason: "a test",
	};
	await declareFlow(database.owner, { ...flow, kind: "withdrawal", amount: 2_000n * usdc, to: relayer });
	await declareFlow(database.owner, { ...flow, kind: "deposit", amount: 700n * usdc });
	const made = await makePlan();
	expect(settlementIn(made, originId)).toMatchObject({
		held: String(20_000n * usdc),
		free: String(17_000n * usdc),
		arriving: String(700n * usdc),
	});
	expect(BigInt(settlementIn(made, destinationId)?.needed ?? 0)).toBeGreaterThan(5_000n * usdc);
});

test("what is reserved for a swap lowers what is free until its delivery has left the balance, and not until that is final", async () => {
	const { owner } = database;
	const amount = 3_000n * usdc;
	const id = await insertTestSwap(owner, { accountId: null });
	await owner.query(
		`insert into reservations (swap_id, chain_id, token, amount, value_usd_cents, volumes, lapses_at)
		values ($1, $2, $3, $4, 0, '[]', now())`,
		[id, destinationId, hexToBytes(settlementOf(destinationId)), amount],
	);
	const reserve = () =>
		owner.query("update inventory set reserved = $3 where chain_id = $1 and token = $2", [
			destinationId,
			hexToBytes(settlementOf(destinationId)),
			amount,
		]);
	await reserve();
	const free = async () => settlementIn(await makePlan(), destinationId)?.free;
	expect(await free()).toBe(String(17_000n * usdc));

	const { rows } = await owner.query<{ block_number: number }>(
		"select max(block_number) as block_number from inventory where chain_id = $1",
		[destinationId],
	);
	const readAt = rows[0]?.block_number ?? 0;
	await owner.query(
		`insert into chain_events (chain_id, block_number, log_index, block_hash, transaction_hash, contract, order_id, name, data)
		select $1, $2, 0, '', '', '', order_id, 'Filled', '{}' from swaps where id = $3`,
		[destinationId, readAt + 1, id],
	);
	expect(await free()).toBe(String(17_000n * usdc));
	await owner.query("update chain_events set block_number = $1", [readAt]);
	await hold(destinationId, 17_000n * usdc);
	await reserve();
	expect(await free()).toBe(String(17_000n * usdc));
	await owner.query("truncate reservations, chain_events, swaps");
});

test("an open bridge counts as arriving until it is late, and closes its route once it is", async () => {
	await hold(destinationId, 500n * usdc);
	const insert = (dueAtMs: number) =>
		database.owner.query(
			`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, to_chain_id, to_token, min_received,
				move_id, nth, reason, made_by, state, due_at)
			values ($1, 'bridge', $2, $3, $4, $5, $6, $7, $3, $4, $8, 0, 'a test', 'test', 'sent', to_timestamp($9))`,
			[
				randomUUID(),
				originId,
				hexToBytes(settlementOf(originId)),
				1_000n * usdc,
				hexToBytes(chains.origin.deployment.contracts.vault),
				hexToBytes(relayer),
				destinationId,
				randomBytes(32),
				dueAtMs / 1_000,
			],
		);
	await insert(nowMs + 60_000);
	const onTime = await makePlan();
	expect(settlementIn(onTime, destinationId)?.arriving).toBe(String(1_000n * usdc));
	expect(onTime.moves.filter(({ kind }) => kind === "bridge")).toEqual([]);
	expect(onTime.reasons.join()).toContain("every route to it has an open move");

	await database.owner.query("truncate treasury_moves");
	await insert(nowMs - 60_000);
	const late = await makePlan();
	expect(settlementIn(late, destinationId)?.arriving).toBe("0");
	expect(late.reasons.join()).toContain("is stuck");
});

test("a chain that is paused, not followed, or whose node is silent is neither emptied nor filled, and is named", async () => {
	await hold(destinationId, 500n * usdc);
	silent.add(originId);
	const unread = await makePlan();
	expect(unread.moves.filter(({ kind }) => kind === "bridge")).toEqual([]);
	expect(unread.reasons[0]).toMatch(/is unreadable/);
	silent.clear();

	await database.owner.query(
		"update chain_heads set updated_at = now() - interval '10 minutes' where chain_id = $1",
		[originId],
	);
	expect((await makePlan()).reasons[0]).toMatch(/is unreadable/);
	await database.owner.query("update chain_heads set updated_at = now()");

	await pauseChain(database.owner, { chainId: destinationId, cause: "operator", reason: "a test", nowMs });
	const paused = await makePlan();
	expect(paused.moves.filter(({ kind }) => kind === "bridge")).toEqual([]);
	expect(paused.reasons[0]).toMatch(/is paused/);
	await database.owner.query(
		"update pauses set lifted_at = now(), lifted_by = 'ada', lifted_reason = 'over' where lifted_at is null",
	);
});

test("a relayer that spends its gas is refilled for what it spends at the 95th percentile of its hours", async () => {
	const spend = (hoursAgo: number, wei: bigint) =>
		database.owner.query(
			`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
				sent_at_block, gas_cost, created_at)
			values ($1, $2, $3, 0, $4, '', 'jobs', '[]', 1, 'final', 1, $5, to_timestamp($6))`,
			[originId, hexToBytes(relayer), hoursAgo, randomBytes(32), wei, nowMs / 1_000 - 3_600 * hoursAgo - 1],
		);
	// The dearest hour of twenty is above the percentile.
	await spend(0, 9n * 10n ** 18n);
	for (let hour = 1; hour <= 19; hour++) await spend(hour, 10n ** 15n);
	const { reasons, moves } = await makePlan();
	const said = [...reasons, ...moves.map(({ reason }) => reason)].find((text) => text.includes(relayer));
	expect(said).toContain("has 0 ETH and spends 0.001 ETH an hour");
});

test("the plans of about a day are kept", async () => {
	await database.owner.query(
		`insert into treasury_plans select to_timestamp($1) - n * interval '5 minutes', '{}' from generate_series(1, 300) n`,
		[nowMs / 1_000],
	);
	await makePlan();
	const { rows } = await database.owner.query("select count(*) as count, max(at) as at from treasury_plans");
	expect(rows).toEqual([{ count: 288, at: new Date(nowMs) }]);
});

test("a worker plans at once and after each wait, beside another one that does not, and mode off removes the needs", async () => {
	const stop = new AbortController();
	let clockMs = nowMs;
	const waits: number[] = [];
	const run = (mode: "off" | "plan", onWait: () => void) =>
		runTreasury({
			pool: database.pool,
			config: { ...config, treasury: { ...config.treasury, mode } },
			priceCache,
			wantPrices: async () => {},
			readChain,
			chainOf: () => undefined,
			pokeTreasurer: async () => {},
			wait: async (ms) => {
				waits.push(ms);
				clockMs += ms;
				onWait();
				await new Promise((resolve) => setImmediate(resolve));
			},
			nowMs: () => clockMs,
			signal: stop.signal,
			log,
		});
	const needs = async () => {
		const { rows } = await database.owner.query("select from inventory where needed is not null");
		return rows.length;
	};
	let other: Promise<void> | undefined;
	await run("plan", () => {
		// A second worker returns at once, because this one leads.
		other ??= run("plan", () => {
			throw new Error("the second worker planned");
		});
		if (waits.length === 3 * 300) stop.abort();
	});
	await other;
	// Between two plans the worker reads the open rows each second.
	expect(new Set(waits)).toEqual(new Set([1_000]));
	expect((await database.owner.query("select from treasury_plans")).rowCount).toBe(3);
	expect(await needs()).toBe(2);

	const off = new AbortController();
	await runTreasury({
		pool: database.pool,
		config: { ...config, treasury: { ...config.treasury, mode: "off" } },
		priceCache,
		wantPrices: async () => {
			throw new Error("prices were requested");
		},
		readChain,
		chainOf: () => undefined,
		pokeTreasurer: async () => {},
		wait: async () => off.abort(),
		nowMs: () => nowMs,
		signal: off.signal,
		log,
	});
	expect(await needs()).toBe(0);
});

test("a chain whose follower is behind, or whose vault made a move that no row has, is not planned until that is mended", async () => {
	await hold(destinationId, 500n * usdc);
	const bridges = async () => {
		const { moves, reasons } = await makePlan();
		return { bridges: moves.filter(({ kind }) => kind === "bridge").length, reasons };
	};
	expect(await bridges()).toMatchObject({ bridges: 1 });
	// As after a restore, when the follower reads the blocks since the backup.
	await database.owner.query("update chain_heads set timestamp = timestamp - 300 where chain_id = $1", [
		originId,
	]);
	const behind = await bridges();
	expect(behind.bridges).toBe(0);
	expect(behind.reasons.join(" ")).toContain("because the chain is unreadable");
	await database.owner.query("update chain_heads set timestamp = timestamp + 300 where chain_id = $1", [
		originId,
	]);
	const moveId = bytesToHex(randomBytes(32));
	await database.owner.query(
		`insert into chain_events (chain_id, block_number, block_hash, log_index, transaction_hash, contract, name, data)
		values ($1, 1, $2, 0, $2, '', 'Bridged', jsonb_build_object('moveId', $3::text))`,
		[originId, randomBytes(32), moveId],
	);
	const unknown = await bridges();
	expect(unknown.bridges).toBe(0);
	expect(unknown.reasons.join(" ")).toContain("made a move that no row has");
	await database.owner.query(
		`insert into treasury_moves (id, kind, chain_id, holder, token, amount, move_id, reason, made_by, state)
		values ($1, 'send', $2, '', '', 1, $3, 'adopted', 'op', 'final')`,
		[randomUUID(), originId, hexToBytes(moveId)],
	);
	expect(await bridges()).toMatchObject({ bridges: 1 });
	await database.owner.query("delete from chain_events");
});

test("with the mode act each planned move is queued once, and its amount is reserved", async () => {
	await hold(destinationId, 500n * usdc);
	const acting = { treasury: { ...config.treasury, mode: "act" as const } };
	const plan = await makePlan(acting);
	const queued = async () => {
		const { rows } = await database.owner.query<{
			kind: string;
			amount: string;
			reserved: string;
			state: string;
		}>(
			`select m.kind, m.amount::text as amount, i.reserved::text as reserved, m.state from treasury_moves m
			join inventory i using (chain_id, token) order by m.created_at`,
		);
		return rows;
	};
	const planned = plan.moves.map(({ kind, amount }) => {
		return { kind, amount, reserved: amount, state: "queued" };
	});
	expect(planned.map(({ kind }) => kind)).toContain("bridge");
	expect(await queued()).toEqual(planned);
	await makePlan(acting);
	expect(await queued()).toHaveLength(plan.moves.length);
});

test("a manual route is planned with what it carries at most, and only shown, because a person sends by it", async () => {
	await hold(destinationId, 500n * usdc);
	const route = { from: originId, to: destinationId, seconds: 3_600, feeCentibps: 100, maxUsd: 1_000 };
	const withoutCctp = config.chains.map((chain) => {
		if (chain.kind === "solana") return chain;
		const { cctp: _, ...deployment } = chain.deployment;
		return { ...chain, deployment };
	});
	const { moves } = await makePlan({
		chains: withoutCctp,
		treasury: { ...config.treasury, mode: "act", manualRoutes: [route] },
	});
	const manual = moves.find(({ kind }) => kind === "manual");
	expect(manual).toMatchObject({
		amount: String(1_000n * usdc),
		chainId: originId,
		toChainId: destinationId,
	});
	expect(manual?.reason).toContain("1,000 USDC by a transfer by hand");
	const { rows } = await database.owner.query("select kind from treasury_moves");
	expect(rows.length).toBe(moves.filter(({ kind }) => kind !== "manual").length);
});
