import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { strikeJobs } from "./strike-jobs.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** A job in a transaction that was mined at block 10. Returns what becomes of it. */
async function strike(
	{
		kind,
		attestationId,
		strikes = 0,
		payload = {},
		headNumber = 11,
	}: { kind: string; attestationId?: string; strikes?: number; payload?: object; headNumber?: number },
	sentAs = kind,
) {
	const swapId = randomUUID();
	const nonce = Math.floor(Math.random() * 1e9);
	await database.pool.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority, attestation_id, relayer, nonce,
			strikes, payload)
		values ($1, $2, 1, '\\x01', '{}', 'sent', 0, $3, '\\x02', $4, $5, $6)`,
		[swapId, kind, attestationId ?? null, nonce, strikes, payload],
	);
	await database.pool.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block, block_number)
		values (1, '\\x02', $1, 0, $2, '', $3, '[]', 0, 'mined', 9, 10)`,
		[nonce, Buffer.from(swapId), sentAs],
	);
	await strikeJobs(database.pool, { chainId: 1, headNumber });
	const { rows } = await database.pool.query(
		"select state, reason, strikes, alone, attestation_id, relayer from jobs where swap_id = $1",
		[swapId],
	);
	return rows[0];
}

test("a job that was signed for in a list needs signatures of its own before it is sent again", async () => {
	expect(await strike({ kind: "release", attestationId: randomUUID() })).toEqual({
		state: "unattested",
		reason: null,
		strikes: 1,
		alone: true,
		attestation_id: null,
		relayer: null,
	});
});

test("a job stays with its nonce until a block lies on the one that spent it", async () => {
	const early = await strike({ kind: "fill", headNumber: 10 }, "cancel");
	expect(early).toMatchObject({ state: "sent", relayer: expect.anything() });
	expect(await strike({ kind: "fill", headNumber: 11 }, "cancel")).toMatchObject({
		state: "queued",
		relayer: null,
	});
});

test("a job whose transaction was cancelled is queued again and is not to blame", async () => {
	expect(await strike({ kind: "fill" }, "cancel")).toMatchObject({
		state: "queued",
		strikes: 0,
		alone: false,
	});
});

test("an op that was struck out while its transaction was cancelled is refused", async () => {
	expect(await strike({ kind: "open", strikes: 2 }, "cancel")).toMatchObject({ state: "queued", strikes: 2 });
	expect(await strike({ kind: "open", strikes: 3 }, "cancel")).toMatchObject({ state: "refused" });
});

test("a Solana payout that fails again and again is not called its recipient's fault", async () => {
	const refused = { state: "refused", strikes: 3 };
	const payout = { delivery: { kind: "payout" } };
	expect(await strike({ kind: "fill", strikes: 2, payload: payout })).toMatchObject({
		...refused,
		reason: "too_late",
	});
	const stock = { delivery: { kind: "stock" } };
	expect(await strike({ kind: "fill", strikes: 2, payload: stock })).toMatchObject({
		...refused,
		reason: "reverted",
	});
});

test("a Solana wallet's message is not sent a second time: its first strike is its last", async () => {
	const payload = { op: { kind: "solana" } };
	expect(await strike({ kind: "open", payload })).toMatchObject({ state: "refused", strikes: 1 });
	expect(await strike({ kind: "open", payload: { op: {} } })).toMatchObject({ state: "queued", strikes: 1 });
});
