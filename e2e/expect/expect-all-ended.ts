import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { connectDatabase } from "../environment/connect-database.ts";

/** Waits until no work is left for any swap, then expects that nothing is reserved. */
export async function expectAllEnded(
	{ databaseUrl }: { databaseUrl: string },
	{ withinMs }: { withinMs: number },
): Promise<void> {
	const deadline = Date.now() + withinMs;
	const database = await connectDatabase(databaseUrl);
	try {
		for (;;) {
			const unended = await database.query(
				`select id, status, stage, giving_up,
					(select jsonb_object_agg(kind, jsonb_build_object('state', state, 'failures', failures, 'reason', reason))
						from jobs where swap_id = id) as jobs,
					(select fact from swap_events where swap_id = id order by seq desc limit 1) as fact
				from swaps where ended_at is null`,
			);
			if (unended.length === 0) break;
			if (Date.now() > deadline) expect(unended).toEqual([]);
			await sleep(500);
		}
		expect(await database.query("select * from reservations")).toEqual([]);
		expect(await database.query("select * from inventory where reserved <> 0")).toEqual([]);
	} finally {
		await database.end();
	}
}
