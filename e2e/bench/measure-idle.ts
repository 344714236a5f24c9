import { setTimeout as sleep } from "node:timers/promises";
import { packDeadlines } from "@geoswap/protocol";
import { type BenchRow, benchRow } from "./bench-row.ts";
import { type Costs, costsBetween, countCalls, countStatements, ownParts, readCosts } from "./read-costs.ts";
import type { Bench } from "./start-bench.ts";

const quietMs = 10_000;
const lookTimeoutMs = 300_000;

/** Measures the costs while nothing happens. */
export async function measureIdle({ environment, database }: Bench, durationMs: number): Promise<Costs> {
	const before = await readCosts(environment, database);
	await sleep(durationMs);
	return costsBetween(before, await readCosts(environment, database));
}

export function idleRows(group: string, costs: Costs): BenchRow[] {
	const seconds = costs.atMs / 1_000;
	const row = benchRow(group);
	const ownMs = ownParts.reduce((sum, part) => sum + costs.processorMs[part], 0);
	return [
		row("processor time a second, all processes of the service", "ms", ownMs / seconds),
		...ownParts.map((part) => row(`  ${part}`, "ms", costs.processorMs[part] / seconds)),
		row("statements a second", "", countStatements(costs) / seconds),
		row("calls to nodes a second", "", countCalls(costs) / seconds),
	];
}

/**
 * Adds swaps that wait for a distant deadline, until there are `count`. They are copies of one that has ended, whose op
 * was refused and may still be sent by a third party. Returns when a round has handled all of them, and each waits like
 * a swap without events for an hour, which is handled again within ten minutes, at one of the moments for that.
 */
export async function addPending({ database }: Bench, count: number): Promise<void> {
	const openDeadline = BigInt(Math.floor(Date.now() / 1_000) + 86_400);
	const deadlines = packDeadlines({
		openDeadline,
		fillDeadline: openDeadline + 600n,
		refundAfter: openDeadline + 1_200n,
	});
	await database.query(
		`with model as (select * from swaps where ended_at is not null and op is not null limit 1),
		copies as (
			select (left(id::text, 18) || right(gen_random_uuid()::text, 18))::uuid as new_id,
				'\\x' || md5(n::text) || md5(random()::text) as new_order_id,
				order_terms || jsonb_build_object('deadlines', $2::text) as terms
			from model, generate_series(1, $1 - (select count(*) from swaps where ended_at is null)) n
		), swaps_added as (
			insert into swaps select (jsonb_populate_record(null::swaps, to_jsonb(model) || jsonb_build_object(
				'id', new_id, 'order_id', new_order_id, 'order_terms', terms, 'status', 'pending', 'stage', 'opening',
				'moves', array['opening'], 'origin_tx_hash', null, 'delivery_tx_hash', null, 'delivered_amount', null,
				'ended_at', null, 'trace', null))).*
			from model, copies
		), jobs_added as (
			insert into jobs (swap_id, kind, order_id, chain_id, order_terms, payload, state, reason, priority, alone, turn)
			select new_id, 'open', new_order_id::bytea, (terms->>'originChainId')::bigint, terms, jsonb_build_object('op', op),
				'refused', 'expired', 4, false, 0
			from model, copies
		)
		insert into waits (swap_id, order_id) select new_id, new_order_id::bytea from copies`,
		[count, String(deadlines)],
	);
	for (const deadline = performance.now() + lookTimeoutMs; ; await sleep(1_000)) {
		const [row] = await database.query<{ due: number }>(
			"select count(*)::int as due from waits where fact is null or due_at <= now()",
		);
		if (row?.due === 0) break;
		if (performance.now() > deadline)
			throw new Error(`${row?.due} of ${count} swaps were not processed in time`);
	}
	await database.query(
		`update waits set idle_rounds = 10,
			due_at = date_bin('30 seconds', now() + (60 + random() * 570) * interval '1 second', 'epoch')`,
	);
	await sleep(quietMs);
}
