import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId, roundOptions, token } from "../../test/swap/swap-scene.ts";
import { createRound } from "./run-round.ts";

/** An hour of orders that one stranger can open on a chain with blocks of 30 million gas. */
const strangersSwaps = process.env.GEOSWAP_FULL ? 36_000 : 600;
let database: TestDatabase;

beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
	await database.pool.query("insert into inventory values ($1, $2, 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await database.pool.query("insert into pair_volume values ($1, $2, 'buy', 0)", [
		destinationId,
		hexToBytes(token),
	]);
});
afterAll(() => database?.drop());

test("third parties' swaps whose refunds are credits are read once, and an account's less and less often", async () => {
	const { owner } = database;
	const scene = await createSwapScene(database.pool, { isReserved: false });
	await scene.emit("Opened", originId);
	await scene.emit("Refunded", originId, { paid: false });
	await scene.moveHeads(400);
	// Copies of the scene's swap as they are rebuilt, without account and op.
	await owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, stage, giving_up, moves)
		select overlay(id::text placing lpad(to_hex(i), 12, '0') from 25)::uuid,
			decode(md5(i::text) || md5((-i)::text), 'hex'), order_terms, output, value_usd_cents, delivery, 'refunding',
			'TOO_LATE', array['opening', 'deposited', 'refunding']
		from swaps, generate_series(1, $1::int) i where id = $2`,
		[strangersSwaps, scene.uuid],
	);
	await owner.query(
		`insert into chain_events (chain_id, block_number, block_hash, log_index, transaction_hash, contract, order_id, name,
			data)
		select $1, 99, '\\x00', 2 * i + n, decode(md5(i::text), 'hex'), '\\x00',
			decode(md5(i::text) || md5((-i)::text), 'hex'), name,
			case name when 'Refunded' then '{"paid": false}' else '{}' end::jsonb
		from generate_series(1, $2::int) i, unnest(array['Opened', 'Refunded']) with ordinality as e (name, n)`,
		[originId, strangersSwaps],
	);
	await owner.query("update swaps set account_id = $2 where id = $1", [scene.uuid, randomUUID()]);
	await owner.query("delete from waits");
	await owner.query("insert into waits (swap_id, order_id) select id, order_id from swaps");
	await owner.query("analyze swaps, waits, chain_events");
	const clock = { ...scene.clock, nowMs: Date.now() + 400_000 };
	const round = createRound({ ...roundOptions(database.pool, clock), log: pino({ level: "silent" }) });
	const looksUntilRest = async () => {
		for (let looks = 0; ; ) {
			const { ran, hasMore } = await round();
			looks += ran;
			if (!hasMore) return looks;
		}
	};
	const startMs = performance.now();
	expect(await looksUntilRest()).toBe(strangersSwaps + 1);
	console.log(`${strangersSwaps} strangers' swaps ended in ${Math.round(performance.now() - startMs)} ms`);
	const { rows: ended } = await owner.query(
		"select status, ended_at is not null as is_ended, count(*)::int as count from swaps group by 1, 2 order by 3",
	);
	expect(ended).toEqual([
		{ status: "pending", is_ended: false, count: 1 },
		{ status: "pending", is_ended: true, count: strangersSwaps },
	]);

	const dueSeconds: number[] = [];
	for (let rounds = 0; rounds < 6; rounds++) {
		const { rows } = await owner.query<{ swap_id: string; seconds: number }>(
			"select swap_id, extract(epoch from due_at - now())::float8 as seconds from waits",
		);
		expect(rows.map(({ swap_id }) => swap_id)).toEqual([scene.uuid]);
		dueSeconds.push(rows[0]?.seconds ?? 0);
		await owner.query("update waits set due_at = now()");
		expect(await looksUntilRest()).toBe(1);
	}
	expect(dueSeconds[0]).toBeLessThan(100);
	expect(dueSeconds.at(-1)).toBeGreaterThan(590);
}, 600_000);
