import { randomBytes, randomUUID } from "node:crypto";
import {
	firstSwapUuidAt,
	newSwapUuid,
	orderToJson,
	type SwapUuid,
	swapStatuses,
	swapUuidTimeMs,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainOrder } from "../../../test/order/plain-order.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Database } from "../../database/database.ts";
import { ensurePartitions } from "../../database/migrate.ts";
import { type ListedSwaps, listSwaps, swapsBetween } from "./list-swaps.ts";

const dayMs = 86_400_000;
/** The number of days that have partitions. */
const days = 420;
/** The number of most recent days, in which everyone swaps. */
const busyDays = 40;
/**
 * Noon, because the planner's choice depends on the number of rows in today's partition, which must not depend on the
 * hour.
 */
const nowMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
const createdMs = nowMs - 730 * dayMs;
const address: Address = "0x00000000000000000000000000000000000000a1";
const usual = toWord(address);
/** The wallet of every thousandth swap. */
const rareWallet = toWord("0x00000000000000000000000000000000000000b2");
/** An account with few swaps among many, one with many, and one that has swapped rarely for a long time. */
const [small, large, old] = [randomUUID(), randomUUID(), randomUUID()];
/** The ages in days of the old account's swaps. */
const oldDays = [0, 0.5, 1, 1, 3, 31, 31.5, 32, 90, 181, 182, 183, 184, 300, 400, 419];

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
	const { owner } = database;
	await ensurePartitions(owner, { nowMs: nowMs - days * dayMs, daysAhead: days });
	const uuid = newSwapUuid({ nowMs, random: randomBytes(10) });
	const order = plainOrder({ swapKey: toSwapKey(uuid), wallet: toWord(address) });
	const columns = "id, account_id, order_id, order_terms, output, value_usd_cents, delivery, status";
	// The rows are spread over the busy days. Every hundredth is the small account's. Of the others, four failed.
	await owner.query(
		`insert into swaps (${columns})
		select (lpad(to_hex($1::bigint - i * $2::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(i), 12, '0'))::uuid,
			case when i % 100 = 0 then $3::uuid else $4::uuid end,
			decode(lpad(to_hex(i), 64, '0'), 'hex'),
			case when i % 1000 = 7 then jsonb_set($5, '{wallet}', to_jsonb($6::text)) else $5::jsonb end, 7, 700, '{"kind": "inventory", "amount": "7"}',
			case when i % 10000 = 1 then 'failed' when i % 400 < 200 then 'settled' else 'pending' end
		from generate_series(0, 39999) i`,
		[nowMs, (busyDays * dayMs) / 40_000, small, large, orderToJson(order), rareWallet],
	);
	await owner.query(
		`insert into swaps (${columns})
		select id, $2, sha256(id::text::bytea), $3, 7, 700, '{"kind": "inventory", "amount": "7"}', 'settled'
		from unnest($1::uuid[]) id`,
		[
			oldDays.map((ago) => newSwapUuid({ nowMs: nowMs - ago * dayMs, random: randomBytes(10) })),
			old,
			orderToJson(order),
		],
	);
	await owner.query("analyze swaps");
}, 240_000);
afterAll(() => database.drop());

type Plan = {
	"Node Type": string;
	"Index Name"?: string;
	"Actual Rows"?: number;
	"Actual Loops"?: number;
	"Rows Removed by Filter"?: number;
	Plans?: Plan[];
};

/** The parameters of the first query of a list. */
type FirstQuery = Omit<ListedSwaps, "nowMs" | "accountCreatedAtMs">;

async function planOf({ before = firstSwapUuidAt(nowMs + dayMs), ...page }: FirstQuery): Promise<Plan[]> {
	const from = firstSwapUuidAt(swapUuidTimeMs(before) - 30 * dayMs);
	const { text, values } = swapsBetween({ ...page, from, before });
	const { rows } = await database.owner.query(`explain (analyze, format json) ${text}`, values);
	const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];
	return flat(rows[0]["QUERY PLAN"][0].Plan);
}

function rowsRead(scans: readonly Plan[]): number {
	return scans.reduce(
		(sum, scan) => sum + (scan["Actual Rows"] ?? 0) + (scan["Rows Removed by Filter"] ?? 0),
		0,
	);
}

const middle = newSwapUuid({ nowMs: nowMs - 20 * dayMs, random: randomBytes(10) });

test.each<[string, FirstQuery]>([
	["the first page of an account with few", { accountId: small, limit: 21 }],
	["a page in the middle of an account with few", { accountId: small, limit: 21, before: middle }],
	["a page by status of an account with few", { accountId: small, limit: 21, status: "settled" }],
	["the first page of an account with many", { accountId: large, limit: 21 }],
	["a page in the middle of an account with many", { accountId: large, limit: 21, before: middle }],
	["a page by a rare status of an account with many", { accountId: large, limit: 21, status: "failed" }],
	["a page by wallet and status", { accountId: large, limit: 21, wallet: rareWallet, status: "settled" }],
	["a page by wallet and a rare status", { accountId: large, limit: 21, wallet: usual, status: "failed" }],
])(
	"%s, among many rows and partitions, is read in the order of an index with few extra rows",
	async (_, page) => {
		const plan = await planOf(page);
		expect(plan.map((node) => node["Node Type"])).not.toContain("Sort");
		const scans = plan.filter((node) => /Scan$/.test(node["Node Type"]) && node["Actual Loops"] !== 0);
		expect(scans.length).toBeGreaterThan(0);
		for (const scan of scans) expect(scan["Node Type"]).toBe("Index Scan");
		const indices = scans.map((scan) => scan["Index Name"]);
		if (page.accountId === small) {
			for (const index of indices) expect(index).toMatch(/_account_id_(status_)?id_idx$/);
		}
		if (page.status === "failed")
			for (const index of indices) expect(index).toMatch(/_account_id_(expr_)?status_id_idx$/);
		expect(rowsRead(scans)).toBeLessThanOrEqual(2 * page.limit);
	},
);

const limit = 21;
test.each([
	// If nearly all swaps are of one wallet, the primary key is estimated to be as good as the index of wallets. It is
	// worse where consecutive swaps have the same status, by the length of that run, which is up to 200 here.
	["the usual wallet reads at most three pages of each status", usual, 3 * swapStatuses.length * limit],
	["a rare wallet reads at most two pages, by the index of wallets", rareWallet, 2 * limit],
])("a page by %s", async (_, wallet, most) => {
	const plan = await planOf({ accountId: large, limit, wallet });
	const scans = plan.filter((node) => /Scan$/.test(node["Node Type"]) && node["Actual Loops"] !== 0);
	const reading = scans.filter((scan) => scan["Node Type"] !== "Subquery Scan");
	expect(reading.length).toBeGreaterThan(0);
	for (const scan of reading) {
		expect(scan["Node Type"]).toBe("Index Scan");
		if (wallet === rareWallet) expect(scan["Index Name"]).toMatch(/_account_id_expr_status_id_idx$/);
	}
	expect(rowsRead(reading)).toBeLessThanOrEqual(most);
});

/** Lists all pages, following them to the end. */
async function listAll(
	listed: Pick<ListedSwaps, "accountId" | "limit" | "status">,
	{ db = database.pool, accountCreatedAtMs = createdMs }: { db?: Database; accountCreatedAtMs?: number } = {},
): Promise<{ ids: SwapUuid[]; calls: number }> {
	const ids: SwapUuid[] = [];
	let before: SwapUuid | undefined;
	let calls = 0;
	do {
		const page = await listSwaps(db, { ...listed, accountCreatedAtMs, before, nowMs });
		expect(page.swaps.length).toBeLessThanOrEqual(listed.limit);
		ids.push(...page.swaps.map(({ id }) => id));
		before = page.before;
		calls++;
	} while (before !== undefined);
	return { ids, calls };
}

test.each([
	["few swaps", small, 400],
	["rare swaps over a long time", old, oldDays.length],
])(
	"paging with any page size lists each of an account's swaps once, newest first: %s",
	async (_, accountId, count) => {
		const { rows } = await database.owner.query<{ id: string }>(
			"select id from swaps where account_id = $1 order by id desc",
			[accountId],
		);
		const expected = rows.map(({ id }) => id);
		expect(expected).toHaveLength(count);
		for (const limit of [1, 3, 7, 100]) expect((await listAll({ accountId, limit })).ids).toEqual(expected);
	},
);

test("an account that is two years old and has never swapped is listed completely in five calls", async () => {
	expect(await listAll({ accountId: randomUUID(), limit: 20 })).toEqual({ ids: [], calls: 5 });
	const young = { accountCreatedAtMs: nowMs };
	expect(await listAll({ accountId: randomUUID(), limit: 20 }, young)).toEqual({ ids: [], calls: 1 });
});

test("a query locks the partitions of at most a month, and the usual query those of at most three days", async () => {
	const client = await database.pool.connect();
	const locks: number[] = [];
	/** Runs each query in a separate transaction, as on a pool, and counts locks before it ends. */
	const query = async (...args: Parameters<Database["query"]>) => {
		await client.query("begin");
		const answer: unknown = await Promise.resolve(client.query(...args));
		const { rows } = await client.query<{ relations: number }>(
			`select count(*) as relations from pg_locks l join pg_class c on c.oid = l.relation
			where l.pid = pg_backend_pid() and c.relname like 'swaps%'`,
		);
		await client.query("commit");
		locks.push(rows[0]?.relations ?? 0);
		return answer;
	};
	const db = { query } as unknown as Database;
	try {
		const indices = 9;
		const ofDays = (count: number) => (1 + count) * (1 + indices);
		await listSwaps(db, { accountId: large, limit: 100, nowMs, accountCreatedAtMs: createdMs });
		expect(locks).toHaveLength(1);
		expect(locks[0]).toBeLessThanOrEqual(ofDays(3));
		await listAll({ accountId: old, limit: 20 }, { db });
		await listAll({ accountId: randomUUID(), limit: 20, status: "settled" }, { db });
		// A window may begin in the middle of a day.
		expect(Math.max(...locks)).toBeLessThanOrEqual(ofDays(31));
	} finally {
		client.release();
	}
});
