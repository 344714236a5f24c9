import { randomUUID } from "node:crypto";
import { orderId, packDeadlines, type SwapUuid } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import { queueJob } from "../../test/lane/queue-job.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { inTransaction } from "../database/database.ts";
import type { ExposureCaps } from "../swap/facts/facts.ts";
import { dropExposures, insertExposures, lockExposures, markDepositsFinal, putAtRisk } from "./exposure.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.owner.query("truncate jobs, exposures, chain_events, chain_heads"));

const enough = { unreleasedUsdCents: 10_000n, unfinalUsdCents: 10_000n };
const plenty: ExposureCaps = { ...enough, ofAccount: enough };
const [greedy, modest] = [randomUUID(), randomUUID()];

function swapOf(n: number, terms: Partial<ReturnType<typeof anyOrder>> = {}) {
	const deadlines = packDeadlines({ openDeadline: BigInt(n), fillDeadline: 2_000n, refundAfter: 3_000n });
	const order = { ...anyOrder(), originChainId: 1n, destinationChainId: 2n, deadlines, ...terms };
	const id: SwapUuid = `019a0000-0000-7000-8000-${String(n).padStart(12, "0")}`;
	return { id, accountId: greedy, orderId: orderId(order), order, valueUsdCents: 1_000n };
}

/** Puts a swap's value at risk as a round does for a fill. */
function take(swap: ReturnType<typeof swapOf>, caps: Partial<ExposureCaps>): Promise<boolean> {
	const originId = Number(swap.order.originChainId);
	return inTransaction(database.pool, async (db) => {
		const { atRisk } = await lockExposures(db, {
			originIds: [originId],
			accountIds: [swap.accountId],
			chainIds: [originId],
		});
		const { rows } = await db.query<{ is_exposed: boolean; is_final: boolean }>(
			`select exists (select from exposures where swap_id = $1) as is_exposed, exists (
				select from chain_events e join chain_heads h using (chain_id)
				where e.order_id = $2 and e.block_number <= h.finalized_number
			) as is_final`,
			[swap.id, hexToBytes(swap.orderId)],
		);
		const { is_exposed = false, is_final: isFinal = false } = rows[0] ?? {};
		const usdCents = is_exposed ? 0n : swap.valueUsdCents;
		const { attesterSet } = swap.order;
		const { accountId } = swap;
		const sum = atRisk.get(originId);
		if (!sum || !putAtRisk(sum, { accountId, attesterSet, usdCents, isFinal }, { ...plenty, ...caps }))
			return false;
		await insertExposures(db, [{ swap, isFinal }]);
		return true;
	});
}

function openAt(n: number, blockNumber: number) {
	return database.pool.query("insert into chain_events values (1, $2, $3, '', '', '', $1, 'Opened', '{}')", [
		hexToBytes(orderId(swapOf(n).order)),
		blockNumber,
		n,
	]);
}

function finalizeAt(number: number) {
	return database.pool.query(
		`insert into chain_heads values (1, 100, '', 0, 1, $1, 0, 0, 0)
		on conflict (chain_id) do update set finalized_number = $1`,
		[number],
	);
}

test("of fills that are queued concurrently, only as many are accepted as the cap allows", async () => {
	const taken = await Promise.all(
		Array.from({ length: 12 }, (_, n) => take(swapOf(n), { unreleasedUsdCents: 4_999n })),
	);
	expect(taken.filter(Boolean)).toHaveLength(4);
	expect((await database.pool.query("select from exposures")).rowCount).toBe(4);
	expect(await take(swapOf(taken.indexOf(true)), { unreleasedUsdCents: 4_999n })).toBe(true);
});

test("one account's fills use at most its share of a cap, and another account's fills still have room", async () => {
	const half = { unreleasedUsdCents: 5_000n, unfinalUsdCents: 5_000n };
	const taken = await Promise.all(Array.from({ length: 12 }, (_, n) => take(swapOf(n), { ofAccount: half })));
	expect(taken.filter(Boolean)).toHaveLength(5);
	const others = await Promise.all(
		Array.from({ length: 12 }, (_, n) => take({ ...swapOf(20 + n), accountId: modest }, { ofAccount: half })),
	);
	expect(others.filter(Boolean)).toHaveLength(5);

	// A final deposit frees the share of deposits that are not final.
	await database.owner.query("delete from exposures");
	const caps = { ofAccount: { ...half, unfinalUsdCents: 1_999n } };
	expect(await take(swapOf(1), caps)).toBe(true);
	expect(await take(swapOf(2), caps)).toBe(false);
	expect(await take({ ...swapOf(3), accountId: modest }, caps)).toBe(true);
	await openAt(1, 5);
	await finalizeAt(5);
	await markDepositsFinal(database.pool, { chainId: 1, after: 0, upTo: 5 });
	expect(await take(swapOf(2), caps)).toBe(true);
});

test("an account's only unreleased swap may be larger than its share, but not larger than the cap", async () => {
	const small = { ofAccount: { unreleasedUsdCents: 500n, unfinalUsdCents: 5_000n } };
	expect(await take(swapOf(1), { ...small, unreleasedUsdCents: 999n })).toBe(false);
	expect(await take(swapOf(1), small)).toBe(true);
	expect(await take(swapOf(2), small)).toBe(false);
	// A deposit that may be dropped has no such exception, because it becomes final.
	const unfinal = { ofAccount: { unreleasedUsdCents: 5_000n, unfinalUsdCents: 500n } };
	expect(await take({ ...swapOf(3), accountId: modest }, unfinal)).toBe(false);
});

test("a swap's value stays at risk while its fill may be in flight, and is freed once the fill is refused", async () => {
	const caps = { unreleasedUsdCents: 1_000n };
	const { id: swapId, order } = swapOf(1);
	await queueJob(database.pool, {
		swapId,
		kind: "fill",
		chainId: 2,
		orderId: orderId(order),
		order,
		payload: { delivery: { kind: "inventory", amount: 1n } },
		state: "queued",
	});
	expect(await take(swapOf(1), caps)).toBe(true);
	for (const state of ["queued", "sent", "done"]) {
		await database.pool.query("update jobs set state = $1", [state]);
		await dropExposures(database.pool, [swapId]);
		expect(await take(swapOf(2), caps)).toBe(false);
	}
	await database.pool.query("update jobs set state = 'refused'");
	await dropExposures(database.pool, [swapId]);
	expect(await take(swapOf(2), caps)).toBe(true);
});

test("a cap applies to one origin chain and one attester set", async () => {
	const caps = { unreleasedUsdCents: 1_000n };
	expect(await take(swapOf(0), caps)).toBe(true);
	expect(await take(swapOf(1), caps)).toBe(false);
	expect(await take(swapOf(2, { originChainId: 3n }), caps)).toBe(true);
	expect(await take(swapOf(3, { attesterSet: `0x${"77".repeat(32)}` }), caps)).toBe(true);
});

test("deposits that are not final have a separate cap, and a final deposit does not count against it", async () => {
	const caps = { unfinalUsdCents: 2_500n };
	await finalizeAt(9);
	for (const n of [0, 1, 2]) await openAt(n, 10);
	expect(await take(swapOf(0), caps)).toBe(true);
	expect(await take(swapOf(1), caps)).toBe(true);
	expect(await take(swapOf(2), caps)).toBe(false);
	await openAt(5, 9);
	expect(await take(swapOf(5), caps)).toBe(true);
	await openAt(6, 11);
	await finalizeAt(10);
	await markDepositsFinal(database.pool, { chainId: 1, after: 9, upTo: 10 });
	expect(await take(swapOf(6), caps)).toBe(true);
	const { rows } = await database.pool.query("select count(*) from exposures where not is_final");
	expect(rows).toEqual([{ count: 1 }]);
});
