import { randomInt, randomUUID } from "node:crypto";
import { toFunctionSelector } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { countFailures } from "./count-failures.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** Fails a job in a transaction that was mined at block 10. Returns the job after that. */
async function failure(
	{
		kind,
		attestationId,
		failures = 0,
		payload = {},
		headNumber = 11,
		skippedFor,
	}: {
		kind: string;
		attestationId?: string;
		failures?: number;
		payload?: object;
		headNumber?: number;
		/** The error that the vault named when it skipped the order. */
		skippedFor?: string;
	},
	sentAs = kind,
) {
	const swapId = randomUUID();
	const nonce = randomInt(1e9);
	await database.pool.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority, attestation_id, relayer, nonce,
			failures, payload)
		values ($1, $2, 1, '\\x01', '{}', 'sent', 0, $3, '\\x02', $4, $5, $6)`,
		[swapId, kind, attestationId ?? null, nonce, failures, payload],
	);
	await database.pool.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block, block_number)
		values (1, '\\x02', $1, 0, $2, '', $3, '[]', 0, 'mined', 9, 10)`,
		[nonce, Buffer.from(swapId), sentAs],
	);
	if (skippedFor) {
		await database.pool.query(
			`insert into chain_events (chain_id, block_number, log_index, block_hash, transaction_hash, contract, order_id,
				name, data)
			values (1, 10, $1, '', $2, '', '\\x01', 'Skipped', $3)`,
			[nonce, Buffer.from(swapId), { reason: toFunctionSelector(skippedFor) }],
		);
	}
	await countFailures(database.pool, { chainId: 1, headNumber });
	const { rows } = await database.pool.query(
		"select state, reason, failures, alone, attestation_id, relayer from jobs where swap_id = $1",
		[swapId],
	);
	return rows[0];
}

test("a failed job of an attested list needs separate signatures before it is sent again", async () => {
	expect(await failure({ kind: "release", attestationId: randomUUID() })).toEqual({
		state: "unattested",
		reason: null,
		failures: 1,
		alone: true,
		attestation_id: null,
		relayer: null,
	});
});

test("a job keeps its nonce until there is a block on top of the one that spent it", async () => {
	const early = await failure({ kind: "fill", headNumber: 10 }, "cancel");
	expect(early).toMatchObject({ state: "sent", relayer: expect.anything() });
	expect(await failure({ kind: "fill", headNumber: 11 }, "cancel")).toMatchObject({
		state: "queued",
		relayer: null,
	});
});

test("a job whose transaction was cancelled is queued again without a failure", async () => {
	expect(await failure({ kind: "fill" }, "cancel")).toMatchObject({
		state: "queued",
		failures: 0,
		alone: false,
	});
});

test("an op that reached its last failure while its transaction was cancelled is refused", async () => {
	expect(await failure({ kind: "open", failures: 2 }, "cancel")).toMatchObject({
		state: "queued",
		failures: 2,
	});
	expect(await failure({ kind: "open", failures: 3 }, "cancel")).toMatchObject({ state: "refused" });
});

test("a Solana payout that keeps failing is not attributed to its recipient", async () => {
	const refused = { state: "refused", failures: 3 };
	const payout = { delivery: { kind: "payout" } };
	expect(await failure({ kind: "fill", failures: 2, payload: payout })).toMatchObject({
		...refused,
		reason: "too_late",
	});
	const inventory = { delivery: { kind: "inventory" } };
	expect(await failure({ kind: "fill", failures: 2, payload: inventory })).toMatchObject({
		...refused,
		reason: "reverted",
	});
});

test("a fill that its recipient refuses on chain is not retried, and one that delivered too little is", async () => {
	const payload = { delivery: { kind: "inventory" } };
	const fill = { kind: "fill", payload };
	expect(await failure({ ...fill, skippedFor: "NativeTransferFailed(address)" })).toMatchObject({
		state: "refused",
		reason: "recipient",
	});
	expect(await failure({ ...fill, skippedFor: "TooLittleDelivered(uint256,uint256)" })).toMatchObject({
		state: "queued",
	});
});

test("a fill that the chain skips gets the same reason as its simulation would give", async () => {
	const refusedFor = async (skippedFor: string, delivery = "inventory") => {
		const fill = { kind: "fill", failures: 2, payload: { delivery: { kind: delivery } } };
		return (await failure({ ...fill, skippedFor })).reason;
	};
	expect(await refusedFor("SafeERC20FailedOperation(address)")).toBe("liquidity");
	expect(await refusedFor("ERC20InsufficientBalance(address,uint256,uint256)")).toBe("liquidity");
	expect(await refusedFor("Error(string)")).toBe("liquidity");
	expect(await refusedFor("Error(string)", "router")).toBe("price");
	// The error of a token that is paused.
	expect(await refusedFor("EnforcedPause()")).toBe("reverted");
});

test("a Solana op is refused at its first failure, because its message is not sent again", async () => {
	const payload = { op: { kind: "solana" } };
	expect(await failure({ kind: "open", payload })).toMatchObject({ state: "refused", failures: 1 });
	expect(await failure({ kind: "open", payload: { op: {} } })).toMatchObject({
		state: "queued",
		failures: 1,
	});
});
