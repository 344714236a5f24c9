import { randomBytes, randomUUID } from "node:crypto";
import { solanaChainId } from "@geoswap/protocol";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { readDueWork } from "./due-work.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await database.owner.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number)
		values (1, 100, '', 1, 1, 90, 1, 90), ($1, 100, '', 1, 1, 90, 1, 90)`,
		[solanaChainId],
	);
});
afterAll(() => database.drop());
beforeEach(() => database.owner.query("truncate jobs, waits, lane_transactions"));

async function due() {
	const { round, chains } = await readDueWork(database.pool, { overdueMs: 2_000 });
	return { round, ...chains.find(({ chainId }) => chainId === 1) };
}

const nothing = {
	chainId: 1,
	round: "no",
	jobs: "no",
	attestations: "no",
	hasQuestions: false,
	stuckRelayers: [],
};

/** Inserts a wait with these columns, by default due in an hour. */
async function insertWait(columns: Record<string, unknown>): Promise<void> {
	const all: Record<string, unknown> = {
		swap_id: randomUUID(),
		order_id: randomBytes(32),
		due_at: secondsAgo(-3_600),
		...columns,
	};
	await insert("waits", all);
}

async function insertJob(columns: Record<string, unknown>): Promise<void> {
	await insert("jobs", {
		swap_id: randomUUID(),
		kind: "release",
		chain_id: 1,
		order_id: randomBytes(32),
		order_terms: {},
		priority: 1,
		state: "queued",
		...columns,
	});
}

async function insertTransaction(columns: Record<string, unknown>): Promise<void> {
	await insert("lane_transactions", {
		chain_id: 1,
		relayer: Buffer.from("0a".repeat(20), "hex"),
		nonce: 1,
		attempt: 0,
		hash: randomBytes(32),
		raw: randomBytes(8),
		kind: "fill",
		jobs: JSON.stringify([]),
		max_fee_per_gas: 1,
		state: "broadcast",
		sent_at_block: 100,
		...columns,
	});
}

async function insert(table: string, columns: Record<string, unknown>): Promise<void> {
	const names = Object.keys(columns);
	await database.owner.query(
		`insert into ${table} (${names.join(", ")}) values (${names.map((_, i) => `$${i + 1}`).join(", ")})`,
		Object.values(columns),
	);
}

function secondsAgo(seconds: number): Date {
	return new Date(Date.now() - 1_000 * seconds);
}

test("without work nothing is due", async () => {
	await insertWait({ head_chain_id: 1, head_number: 101, finalized_chain_id: 1, finalized_number: 91 });
	await insertJob({ not_before_block: 101 });
	await insertJob({ state: "done", updated_at: secondsAgo(60) });
	await insertTransaction({ state: "mined", created_at: secondsAgo(60), sent_at_block: 1 });
	expect(await due()).toEqual(nothing);
});

test("a swap is due at its time, and overdue two seconds later", async () => {
	await insertWait({ due_at: secondsAgo(1) });
	expect((await due()).round).toBe("due");
	await insertWait({ due_at: secondsAgo(2.1) });
	expect((await due()).round).toBe("overdue");
});

test.each([
	["its head", { head_chain_id: 1, head_number: 100 }],
	["its finalized block", { finalized_chain_id: 1, finalized_number: 90 }],
])(
	"a swap that waits for %s is due once the chain has reached it, and overdue two seconds later",
	async (_, wait) => {
		await insertWait(wait);
		expect((await due()).round).toBe("due");
		await database.owner.query("update waits set due_at = due_at - interval '2.1 seconds'");
		expect((await due()).round).toBe("overdue");
	},
);

test("a job that no lane took, or no attester signed, is due after a moment and overdue later", async () => {
	await insertJob({ updated_at: secondsAgo(0.2) });
	await insertJob({ state: "unattested", updated_at: secondsAgo(1) });
	expect(await due()).toEqual(nothing);
	await insertJob({ updated_at: secondsAgo(1.5) });
	await insertJob({ updated_at: secondsAgo(5), leased_until: secondsAgo(-1) });
	await insertJob({ state: "unattested", updated_at: secondsAgo(2.5) });
	expect(await due()).toEqual({ ...nothing, jobs: "due", attestations: "due" });
	await insertJob({ updated_at: secondsAgo(3.5) });
	await insertJob({ state: "unattested", updated_at: secondsAgo(4.5) });
	expect(await due()).toEqual({ ...nothing, jobs: "overdue", attestations: "overdue" });
});

test("a job that waits for a block is due by time if the chain stalls, unless Solana refused it", async () => {
	const jobs = async () => {
		const { chains } = await readDueWork(database.pool, { overdueMs: 2_000 });
		return chains.filter((chain) => chain.jobs === "overdue").map(({ chainId }) => chainId);
	};
	const waiting = { not_before_block: 200, updated_at: secondsAgo(40) };
	await insertJob({ ...waiting, chain_id: solanaChainId, failures: 1 });
	expect(await jobs()).toEqual([]);
	await insertJob({ ...waiting, failures: 1 });
	expect(await jobs()).toEqual([1]);
	await insertJob({ ...waiting, chain_id: solanaChainId });
	expect((await jobs()).toSorted()).toEqual([1, solanaChainId]);
});

test("a transaction that was not sent, or is not mined for a while, makes its relayer stuck", async () => {
	await insertTransaction({ state: "signed", created_at: secondsAgo(1) });
	await insertTransaction({ nonce: 2, created_at: secondsAgo(60), sent_at_block: 99 });
	await insertTransaction({ nonce: 3, created_at: secondsAgo(3), sent_at_block: 90 });
	expect(await due()).toEqual(nothing);
	await insertTransaction({ nonce: 4, created_at: secondsAgo(6), sent_at_block: 90 });
	await insertTransaction({ nonce: 5, state: "signed", created_at: secondsAgo(3) });
	expect((await due()).stuckRelayers).toEqual([`0x${"0a".repeat(20)}`]);
});

test("due work includes a chain whose second provider must be queried", async () => {
	await insertWait({ ask_chain_id: 1 });
	expect(await due()).toEqual({ ...nothing, hasQuestions: true });
});
