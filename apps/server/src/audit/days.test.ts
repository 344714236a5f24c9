import { fundWallet, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import type { UsdE18 } from "@geoswap/protocol";
import { type Address, type Hex, hexToBytes } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { savePriceMarks } from "../money/profit/price-marks.ts";
import { createLog } from "../telemetry/log.ts";
import { reconcile } from "./reconcile.ts";

const daySeconds = 86_400;

let chains: TestChains;
let chain: TestChain;
let database: TestDatabase;
let usdc: Address;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "owner" })]);
	chain = chains.origin;
	usdc = assetAddress(chain, "USDC");
	await follow();
	for (const { address } of chain.deployment.assets) await mark(address, 1n);
	await give(7n);
	await follow();
	await mark(usdc, 2n);
	await give(5n);
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow(): Promise<void> {
	await orderActions(chains).finalize();
	const following = {
		chain: connectChain(chain),
		pool: database.pools.worker,
		engine: { poke: async () => {} },
		relayers: [privateKeyToAddress(chains.keys.relayers[0] as Hex)],
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
	savePriceMarks(database.owner, [{ chainId: chain.chainId, token, usdE18: (usd * 10n ** 18n) as UsdE18 }]);

async function found({ nowMs }: { nowMs?: number } = {}): Promise<string[]> {
	const { breaches, checked } = await reconcile({
		pool: database.pools.auditor,
		chains: [chain],
		earlierAttesterSets: [],
		nowMs: nowMs ?? Date.now(),
	});
	// Days that were closed more than three days before the given time are not checked again.
	if (nowMs === undefined) expect(checked.I19).toBe(chain.deployment.assets.length);
	return breaches.filter(({ invariant }) => invariant === "I19").map(({ message }) => message);
}

/** Changes the books by these statements, and takes the change back after `run`. */
async function tampered(statements: string[], run: () => Promise<void>): Promise<void> {
	await database.owner.query(`
		create table days_before as table book_days;
		create table marks_before as table price_marks;`);
	try {
		for (const sql of statements) {
			await database.owner.query({
				text: sql,
				values: sql.includes("$1") ? [Buffer.from(hexToBytes(usdc))] : [],
			});
		}
		await run();
	} finally {
		await database.owner.query(`
			delete from book_days; insert into book_days table days_before; drop table days_before;
			delete from price_marks; insert into price_marks table marks_before; drop table marks_before;`);
	}
}

test("the days of correct books close", async () => {
	expect(await found()).toEqual([]);
});

test.each([
	[
		"a closing that the chain does not have",
		["update book_days set closing = closing + 1 where token = $1"],
		"the chain has",
	],
	[
		"a value that was written wrong",
		["update book_days set flows36 = flows36 + 1 where token = $1"],
		"another value",
	],
	[
		"a position that was written wrong",
		["update book_days set positions36 = positions36 - 1 where token = $1"],
		"differ from the change of value by 1 of",
	],
	[
		"an entry without a price",
		["delete from price_marks where token = $1", "update book_days set usd_opening = null where token = $1"],
		"entries without a price",
	],
	["providers that differ", ["update book_days set agreed = false where token = $1"], "two providers report"],
])("%s is found", async (_, statements, message) => {
	await tampered(statements, async () => {
		expect(await found()).toEqual([expect.stringContaining(message)]);
	});
});

test("a day that is not closed six hours after midnight is found", async () => {
	const midnightMs = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
	// The chain's clock is a day ahead, so that its last closed day is today.
	expect(await found({ nowMs: midnightMs + 2 * 86_400_000 + 5 * 3_600_000 })).toEqual([]);
	expect(await found({ nowMs: midnightMs + 2 * 86_400_000 + 7 * 3_600_000 })).toEqual([
		expect.stringContaining("are not closed for"),
	]);
});

test("gas that is booked twice is found", async () => {
	const { owner } = database;
	const hash = `0x${"ab".repeat(32)}`;
	await owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block, block_number, gas_cost)
		values ($1, '', 0, 0, $2, '', 'open', '[]', 1, 'final', 1, 1, 10)`,
		[chain.chainId, Buffer.from(hexToBytes(hash as Hex))],
	);
	const book = (key: string) =>
		owner.query(
			`with p as (
				insert into postings (key, chain_id, block_number, name) values ($1, $2, 1, 'gas') returning id
			)
			insert into entries select p.id, account, $2, '\\x00', amount
			from p, (values ('gas', 10), ('relayer', -10)) as e (account, amount)`,
			[key, chain.chainId],
		);
	await book(`${chain.chainId}:gas:${hash}`);
	expect(await found()).toEqual([]);
	await book(`${chain.chainId}:gas:${hash}:again`);
	expect(await found()).toEqual([expect.stringContaining("20 of gas is booked")]);
});
