import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertRandomSwaps, insertRandomWorld, readRandomWorld } from "../../test/swap/random-swaps.ts";
import { sequence } from "../../test/swap/sequence.ts";
import { roundOptions } from "../../test/swap/swap-scene.ts";
import { createRound } from "./run-round.ts";

let databases: TestDatabase[];
beforeAll(async () => {
	databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

test.each([11, 23, 37, 53])(
	"a batch of many swaps writes the same rows as a batch for each of them (world %i)",
	async (seed) => {
		const nowMs = Date.now();
		const worlds = await Promise.all(
			databases.map(async ({ owner, pool }, i) => {
				await owner.query(
					`truncate swaps, swap_events, waits, jobs, chain_events, reservations, exposures, inventory, pair_volume, chain_heads,
					heartbeats, account_refusals, unsettled_gas, postings, entries`,
				);
				await insertRandomWorld(owner, { nowMs });
				const ids = await insertRandomSwaps(owner, { count: 60, nowMs, random: sequence(seed) });
				await owner.query(
					"insert into waits (swap_id, order_id, due_at) select id, order_id, created_at - interval '1 day' from swaps",
				);
				expect(ids).toHaveLength(60);
				const { config, ...options } = roundOptions(pool, { nowMs });
				const chains = config.chains.map((chain) => ({
					...chain,
					unreleasedCapUsd: 1e9,
					unfinalCapUsd: 1e9,
				}));
				const runRound = createRound({
					...options,
					config: { ...config, chains },
					batchSize: i === 0 ? 60 : 1,
				});
				while ((await runRound()).hasMore);
				const { rows } = await pool.query(
					`select swap_id, fact, idle_rounds, failed_rounds, head_chain_id, head_number, finalized_chain_id, finalized_number
					from waits order by swap_id`,
				);
				return { world: await readRandomWorld(owner), waits: rows };
			}),
		);
		const [together, apart] = worlds as [(typeof worlds)[number], (typeof worlds)[number]];
		expect(together).toEqual(apart);
		const facts = new Set((together.world.swap_events as { fact: string }[]).map(({ fact }) => fact));
		// All kinds of swaps are among them.
		expect(facts.size).toBeGreaterThan(10);
		expect(together.waits.filter(({ failed_rounds }) => failed_rounds > 0)).toEqual([]);
	},
);
