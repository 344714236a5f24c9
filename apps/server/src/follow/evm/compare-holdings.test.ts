import { fundWallet, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import type { UsdE18 } from "@geoswap/protocol";
import { type Address, type Hex, hexToBytes, type LocalAccount, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, orderActions } from "../../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain, type EvmChain } from "../../chain/evm/connect-chain.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { inTransaction } from "../../database/database.ts";
import { value36 } from "../../money/profit/explain-change.ts";
import { savePriceMarks } from "../../money/profit/price-marks.ts";
import { createLog } from "../../telemetry/log.ts";
import { advance } from "./advance.ts";
import { undoFinalBlocks } from "./undo-blocks.ts";

const daySeconds = 86_400;

let chains: TestChains;
let chain: TestChain;
let database: TestDatabase;
let relayer: LocalAccount;
let usdc: Address;
/** What other providers answer for the chain. */
let agreeing: EvmChain[] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "worker" })]);
	chain = chains.origin;
	relayer = privateKeyToAccount(chains.keys.relayers[0] as Hex);
	usdc = assetAddress(chain, "USDC");
	await follow();
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow({ at = connectChain(chain) } = {}): Promise<void> {
	await orderActions(chains).finalize();
	const following = {
		chain: at,
		pool: database.pool,
		engine: { poke: async () => {} },
		relayers: [relayer.address],
		agreeing,
		log: createLog({ level: "silent", process: "test" }),
	};
	while (await advance(following));
}

const give = (amount: bigint) =>
	fundWallet(chain, {
		deployment: chain.deployment,
		wallet: chain.deployment.contracts.vault,
		token: usdc,
		amount,
	});

const mark = (token: Address, usd: bigint) =>
	savePriceMarks(database.pool, [{ chainId: chain.chainId, token, usdE18: (usd * 10n ** 18n) as UsdE18 }]);

async function days() {
	const { rows } = await database.owner.query(
		`select day, opening, closing, by_account, usd_opening, usd_closing, flows36, positions36, agreed
		from book_days where chain_id = $1 and token = $2 order by day`,
		[chain.chainId, Buffer.from(usdc.slice(2), "hex")],
	);
	return rows;
}

/** The newest block of the chain, which has the mint that was last given. */
const newest = async () => Number(await chain.publicClient.getBlockNumber());

/** Writes the row of a bridge to the chain, and returns its id. */
async function bridge({
	state,
	received,
	arrivedBlock,
}: {
	state: "arrived" | "final";
	received: bigint;
	arrivedBlock: number;
}): Promise<string> {
	const { rows } = await database.owner.query<{ id: string }>(
		`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, to_chain_id, to_token, min_received,
			move_id, nth, reason, made_by, state, received, arrived_block, arrived_transaction)
		select id, 'bridge', $1, $2, $3, $4, decode(replace(id::text, '-', ''), 'hex'), $5, $6, 1,
			sha256(id::text::bytea), 0, 'a test', 'worker', $7, $8, $9, sha256(id::text::bytea)
		from gen_random_uuid() as id returning id`,
		[
			chains.destination.chainId,
			hexToBytes(assetAddress(chains.destination, "USDC")),
			// The other chain's token has 12 more decimals than this one.
			received * 10n ** 12n,
			hexToBytes(chains.destination.deployment.contracts.vault),
			chain.chainId,
			hexToBytes(usdc),
			state,
			received,
			arrivedBlock,
		],
	);
	return rows[0]?.id as string;
}

async function sumOf(account: string): Promise<bigint> {
	const { rows } = await database.owner.query<{ sum: string }>(
		`select coalesce(sum(amount), 0)::text as sum from entries
		where chain_id = $1 and token = $2 and account = $3`,
		[chain.chainId, hexToBytes(usdc), account],
	);
	return BigInt(rows[0]?.sum ?? 0);
}

async function bookedArrival(id: string) {
	const { rows } = await database.owner.query(
		`select p.block_number, m.posting_key from treasury_moves m join postings p on p.key = m.posting_key
		where m.id = $1`,
		[id],
	);
	return rows;
}

/** Returns a chain whose node reports one unit more of every balance. */
function inflated(): EvmChain {
	const real = connectChain(chain);
	const multicall = async (parameters: Parameters<typeof real.client.multicall>[0]) => {
		const read = await real.client.multicall(parameters);
		return read.map((value) => (typeof value === "bigint" ? value + 1n : value));
	};
	return { ...real, client: Object.assign(Object.create(real.client), { multicall }) };
}

test("a day is closed once, and its opening and flows add up to its closing, in units and in USD", async () => {
	expect(await days()).toEqual([]);
	await mark(usdc, 1n);
	await give(500n);
	await follow();
	await mark(usdc, 2n);
	await give(7n);
	agreeing = [connectChain(chain), connectChain(chain)];
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	const [first, ...others] = await days();
	expect(others).toEqual([]);
	expect(first).toMatchObject({ by_account: { unattributed: "507" }, agreed: true });
	expect(first.closing).toBe(first.opening + 507n);
	const worth = (amount: bigint, usdE18: bigint) =>
		value36(amount, { decimals: 6, usdE18: usdE18 as UsdE18 });
	expect(first.flows36 + first.positions36).toBe(
		worth(first.closing, first.usd_closing) - worth(first.opening, first.usd_opening),
	);
	expect(first.flows36).toBeGreaterThanOrEqual(worth(507n, 10n ** 18n));

	await follow();
	expect(await days()).toHaveLength(1);
	await give(3n);
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	const [, second] = await days();
	expect(second).toMatchObject({ opening: first.closing, by_account: { unattributed: "3" } });
	expect(second.closing).toBe(second.opening + 3n);
});

test("a provider that reports other balances is noted with the day", async () => {
	agreeing = [connectChain(chain), inflated()];
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	expect((await days()).at(-1)).toMatchObject({ agreed: false });
	agreeing = [];
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	expect((await days()).at(-1)).toMatchObject({ agreed: null });
});

test("a surplus that only one of several providers reports is not booked", async () => {
	const sums = async () =>
		database.owner.query("select account, token, sum(amount) from entries group by 1, 2 order by 1, 2");
	const before = (await sums()).rows;
	agreeing = [connectChain(chain), connectChain(chain)];
	await follow({ at: inflated() });
	expect((await sums()).rows).toEqual(before);
	agreeing = [];
});

test("a relayer's gas is part of the day, even if the service does not offer the native token", async () => {
	const { rows } = await database.owner.query(
		"select opening from book_days where chain_id = $1 and token = $2 order by day limit 1",
		[chain.chainId, Buffer.from(zeroAddress.slice(2), "hex")],
	);
	const inVault = await chain.publicClient.getBalance({ address: chain.deployment.contracts.vault });
	const ofRelayer = await chain.publicClient.getBalance({ address: relayer.address });
	expect(rows).toEqual([{ opening: inVault + ofRelayer }]);
});

test("an amount that arrived by a move is booked when the move is final, and until then neither as unattributed nor in a closed day", async () => {
	await follow();
	const [held, gifts, closed] = [await sumOf("inventory"), await sumOf("unattributed"), await days()];
	await give(1_000n);
	const arrivedBlock = await newest();
	const id = await bridge({ state: "arrived", received: 1_000n, arrivedBlock });
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	expect([await sumOf("inventory"), await sumOf("unattributed")]).toEqual([held, gifts]);
	expect(await days()).toEqual(closed);

	await database.owner.query("update treasury_moves set state = 'final' where id = $1", [id]);
	await follow();
	expect(await bookedArrival(id)).toEqual([
		{ block_number: arrivedBlock, posting_key: `${chain.chainId}:arrival:${id}` },
	]);
	expect([await sumOf("inventory"), await sumOf("unattributed")]).toEqual([held + 1_000n, gifts]);
	expect(await sumOf("bridge")).toBe(-1_000n);
	const [day] = (await days()).slice(closed.length);
	expect(day.closing).toBe(day.opening);
	expect(day).toMatchObject({ by_account: {} });
});

test("an arrival that was booked as unattributed is corrected, also after its day was closed", async () => {
	const [held, gifts] = [await sumOf("inventory"), await sumOf("unattributed")];
	await give(500n);
	const arrivedBlock = await newest();
	await give(9n);
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	expect([await sumOf("inventory"), await sumOf("unattributed")]).toEqual([held + 509n, gifts - 509n]);

	const id = await bridge({ state: "final", received: 500n, arrivedBlock });
	await follow();
	expect(await bookedArrival(id)).toHaveLength(1);
	expect([await sumOf("inventory"), await sumOf("unattributed")]).toEqual([held + 509n, gifts - 9n]);
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	const day = (await days()).at(-1);
	expect(day).toMatchObject({ by_account: { unattributed: "-500" } });
	expect(day.closing - day.opening).toBe(-500n);
});

test("an arrival is booked once, and only up to the block up to which the chain is booked", async () => {
	const booked = await sumOf("bridge");
	await bridge({ state: "final", received: 3n, arrivedBlock: (await newest()) + 10_000 });
	await follow();
	expect(await sumOf("bridge")).toBe(booked);
	await give(4n);
	const id = await bridge({ state: "final", received: 4n, arrivedBlock: await newest() });
	await follow();
	await follow();
	expect(await sumOf("bridge")).toBe(booked - 4n);
	expect(await bookedArrival(id)).toHaveLength(1);
});

test("an arrival in a block that the chain dropped and has again is booked again", async () => {
	const booked = await sumOf("bridge");
	const block = await readBlock(connectChain(chain), await newest());
	await give(6n);
	const id = await bridge({ state: "final", received: 6n, arrivedBlock: await newest() });
	await follow();
	expect(await sumOf("bridge")).toBe(booked - 6n);

	await inTransaction(database.pool, (db) => undoFinalBlocks(db, { chainId: chain.chainId, block }));
	expect(await sumOf("bridge")).toBe(booked);
	expect(await bookedArrival(id)).toEqual([]);
	await chain.testClient.mine({ blocks: 1 });
	await follow();
	expect(await sumOf("bridge")).toBe(booked - 6n);
	expect(await bookedArrival(id)).toHaveLength(1);
});
