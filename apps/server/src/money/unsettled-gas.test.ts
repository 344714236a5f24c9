import { randomBytes, randomUUID } from "node:crypto";
import { newSwapUuid, solanaChainId } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId } from "../../test/swap/swap-scene.ts";
import { openingGas, readUnsettledGas, recordUnsettledGas } from "./unsettled-gas.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("an unsettled swap costs its account its share of each transaction, once", async () => {
	const { pool } = database;
	const [scene, other] = [await createSwapScene(pool), await createSwapScene(pool)];
	let nonce = 0;
	const spend = (swapIds: string[], gasCost: number | null) =>
		pool.query(
			`insert into lane_transactions values ($1, '', $2, 0, $3, '', 'open', $4, 0, null, 'final', 0, 1, $5)`,
			[originId, ++nonce, randomBytes(32), JSON.stringify(swapIds.map((swapId) => ({ swapId }))), gasCost],
		);
	// The first two transactions did not open the order, but their costs count.
	await spend([scene.uuid, other.uuid], 1_001);
	await spend([scene.uuid], 70);
	await spend([scene.uuid], null);
	await spend([other.uuid], 5_000);
	const nowMs = Date.now();
	const { rows } = await pool.query("select account_id from swaps where id = $1", [scene.uuid]);
	const accountId: string = rows[0].account_id;
	const record = () => recordUnsettledGas(pool, { swapIds: [scene.uuid], nowMs });
	const read = (afterMs: number) => readUnsettledGas(pool, { accountId, nowMs: nowMs + afterMs });

	await record();
	expect((await read(0)).ended.spent).toEqual([]);
	await pool.query("update swaps set status = 'refunded', stage = 'refunding' where id = $1", [scene.uuid]);
	await record();
	await record();
	expect((await read(3_600_000)).ended).toEqual({
		spent: [{ chainId: originId, wei: 571n }],
		retryAfterSeconds: 23 * 3_600,
	});
	expect((await read(24 * 3_600_000)).ended.spent).toEqual([]);
});

test("a refund into an account that the service created costs the customer its rent, the fees and a tenth of the returned rent", async () => {
	const { pool } = database;
	const scene = await createSwapScene(pool);
	await pool.query(
		`insert into lane_transactions values ($1, '', 1001, 0, $2, '', 'refund', $3, 0, null, 'final', 0, 1, 15000)`,
		[solanaChainId, randomBytes(64), JSON.stringify([{ swapId: scene.uuid }])],
	);
	const say = (name: string, logIndex: number) =>
		pool.query(
			`insert into chain_events
			select $1, 1, $2, '', '', '', order_id, $3, '{"lamports": "2039280"}' from swaps where id = $4`,
			[solanaChainId, logIndex, name, scene.uuid],
		);
	// The lamports in an order's account come back once it may be closed.
	await say("RentPaid", 0);
	await say("AccountMade", 1);
	const { rows } = await pool.query(
		"update swaps set status = 'refunded', ended_at = now() where id = $1 returning account_id",
		[scene.uuid],
	);
	const nowMs = Date.now();
	await recordUnsettledGas(pool, { swapIds: [scene.uuid], nowMs });
	const read = await readUnsettledGas(pool, { accountId: rows[0].account_id, nowMs: nowMs + 1 });
	expect(read.ended.spent).toEqual([{ chainId: solanaChainId, wei: 2_039_280n + 203_928n + 15_000n }]);
	expect(read.undecided.spent).toEqual([]);
});

test("an unfinished swap from Solana counts as the most expensive refund, or a tenth of it while nothing suggests a refund", async () => {
	const { pool } = database;
	const scenes = await Promise.all(Array.from({ length: 6 }, () => createSwapScene(pool)));
	const [deposited, refunding, stuck, settled, native, fromEvm] = scenes.map(({ uuid }) => uuid);
	const accountId = randomUUID();
	await pool.query(
		"update swaps set account_id = $1, order_terms = order_terms || jsonb_build_object('originChainId', $2::text) where id = any($3)",
		[accountId, solanaChainId, [deposited, refunding, stuck, settled, native]],
	);
	await pool.query("update swaps set giving_up = 'RECIPIENT_REFUSED' where id = any($1)", [
		[refunding, stuck],
	]);
	await pool.query("update swaps set status = 'settled' where id = $1", [settled]);
	await pool.query(
		`update swaps set order_terms = order_terms || jsonb_build_object('inputToken', '0x${"0".repeat(64)}') where id = $1`,
		[native],
	);
	await pool.query("update swaps set account_id = $1 where id = $2", [accountId, fromEvm]);
	const nowMs = Date.now();
	const worst = 2_039_280n + 100_000n;
	const read = () => readUnsettledGas(pool, { accountId, nowMs });
	expect(await read()).toEqual({
		ended: { spent: [], retryAfterSeconds: 24 * 3_600 },
		undecided: {
			spent: [{ chainId: solanaChainId, wei: 2n * worst + worst / 10n }],
			inFlight: expect.anything(),
			retryAfterSeconds: 60,
		},
	});
	// The actual cost is known once the refund is final.
	await pool.query("update swaps set status = 'refunded' where id = any($1)", [[refunding, stuck]]);
	expect((await read()).undecided.spent).toEqual([{ chainId: solanaChainId, wei: 2n * worst + worst / 10n }]);
	await pool.query("update swaps set ended_at = now() where id = any($1)", [[refunding, stuck]]);
	expect((await read()).undecided.spent).toEqual([{ chainId: solanaChainId, wei: worst / 10n }]);
	const tomorrow = await readUnsettledGas(pool, { accountId, nowMs: nowMs + 25 * 3_600_000 });
	expect(tomorrow.undecided.spent).toEqual([]);
});

test("an unfinished swap from an EVM chain counts its mined gas, its op's limit until it is open, a void and a refund", async () => {
	const { pool } = database;
	const { uuid } = await createSwapScene(pool);
	const { rows } = await pool.query(
		`update swaps set op = op || '{"gas": "315000"}' where id = $1 returning account_id`,
		[uuid],
	);
	const read = async () => {
		const { undecided } = await readUnsettledGas(pool, { accountId: rows[0].account_id, nowMs: Date.now() });
		return { spent: undecided.spent, inFlight: undecided.inFlight };
	};
	const unwinding = [
		{ chainId: originId, gas: 70_000n },
		{ chainId: destinationId, gas: 60_000n },
	];
	// The gas limit that a lane sets when the op is the only one in its bundle.
	const { perBundle, perOrder } = openingGas;
	expect(await read()).toEqual({
		spent: [],
		inFlight: [{ chainId: originId, gas: 70_000n + 320_000n + perBundle + perOrder }, unwinding[1]],
	});
	await mine([uuid], 900);
	expect((await read()).spent).toEqual([{ chainId: originId, wei: 900n }]);
	await pool.query("update swaps set stage = 'deposited' where id = $1", [uuid]);
	expect(await read()).toEqual({ spent: [{ chainId: originId, wei: 900n }], inFlight: unwinding });
	// The swap's end is not final yet.
	await pool.query("update swaps set status = 'refunded' where id = $1", [uuid]);
	expect((await read()).spent).toEqual([{ chainId: originId, wei: 900n }]);
});

test("a bundle counts fully for a swap that it did not open, regardless of its other swaps, and by share for one that it did open", async () => {
	const { pool } = database;
	const [unopened, other] = [await createSwapScene(pool), await createSwapScene(pool)];
	const read = async (swapId: string) => {
		const { rows } = await pool.query("select account_id from swaps where id = $1", [swapId]);
		const accountId: string = rows[0].account_id;
		return (await readUnsettledGas(pool, { accountId, nowMs: Date.now() })).undecided.spent;
	};
	const hash = await mine([unopened.uuid, other.uuid], 1_000);
	const [whole, share] = [1_000n, 500n].map((wei) => [{ chainId: originId, wei }]);
	expect([await read(unopened.uuid), await read(other.uuid)]).toEqual([whole, whole]);
	await pool.query(
		`insert into chain_events select $1, 7, 0, '', $2, '', order_id, 'Opened', '{}' from swaps where id = $3`,
		[originId, hash, other.uuid],
	);
	expect([await read(unopened.uuid), await read(other.uuid)]).toEqual([whole, share]);
	// A later transaction opened it, so the cost of the first one is no longer its fault alone.
	await pool.query("update swaps set stage = 'deposited' where id = $1", [unopened.uuid]);
	expect(await read(unopened.uuid)).toEqual(share);
});

test("the cost of 300 undecided swaps is read among 5,000 transactions within 100 ms", async () => {
	const { owner, pool } = database;
	const accountId = randomUUID();
	const ids = Array.from({ length: 5_000 }, () =>
		newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) }),
	);
	await owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op)
		select id, $2, decode(md5(id::text), 'hex'), '{"originChainId": "1", "destinationChainId": "2"}', 1, 1, '{}',
			'{"gas": "3"}'
		from unnest($1::uuid[]) id`,
		[ids.slice(0, 300), accountId],
	);
	await owner.query(
		`insert into lane_transactions
			(chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state, sent_at_block, block_number, gas_cost)
		select 1, '', 10000 + n, 0, decode(md5(id::text), 'hex'), '', 'open',
			jsonb_build_array(jsonb_build_object('swapId', id, 'orderId', '0x' || md5(id::text))), 1, 'mined', 1, 1, 7
		from unnest($1::uuid[]) with ordinality as one (id, n)`,
		[ids],
	);
	await owner.query("analyze swaps, lane_transactions");
	const tookMs: number[] = [];
	for (let i = 0; i < 5; i++) {
		const startedAt = performance.now();
		const { undecided } = await readUnsettledGas(pool, { accountId, nowMs: Date.now() });
		tookMs.push(performance.now() - startedAt);
		expect(undecided.spent).toEqual([{ chainId: 1, wei: 2_100n }]);
	}
	console.log(`the costs of 300 swaps were read in ${Math.min(...tookMs).toFixed(1)} ms`);
	expect(Math.min(...tookMs)).toBeLessThan(100);
});

let minedNonce = 5_000;
/** A transaction of the lane for these swaps' opens. Returns its hash. */
async function mine(swapIds: string[], gasCost: number): Promise<Buffer> {
	const hash = randomBytes(32);
	await database.pool.query(
		`insert into lane_transactions
			(chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state, sent_at_block, block_number, gas_cost)
		select $1, '', $2, 0, $3, '', 'open',
			jsonb_agg(jsonb_build_object('swapId', id, 'orderId', '0x' || encode(order_id, 'hex'))), 0, 'mined', 0, 1, $4
		from swaps where id = any($5)`,
		[originId, ++minedNonce, hash, gasCost, swapIds],
	);
	return hash;
}
