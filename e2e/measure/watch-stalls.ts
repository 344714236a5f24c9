import { setTimeout as sleep } from "node:timers/promises";
import { connectDatabase } from "../environment/connect-database.ts";

const lookEveryMs = 100;

/**
 * The longest time, in ms, that a due swap was not handled, or that a job was ready and no lane took it; and the
 * longest delay of a check itself, a timer and a small query, which shows how busy the machine is.
 */
export type Stalls = { swapMs: number; jobMs: number; lateMs: number };

export type StalledWork = { swap_ms: string; job_ms: string };

/** Reads how long work has currently been waiting. */
export const stalledWork = `
	select coalesce((select extract(epoch from now() - min(due_at)) from waits where due_at <= now()), 0) * 1000
			as swap_ms,
		coalesce((select extract(epoch from now() - min(j.updated_at)) from jobs j join chain_heads h using (chain_id)
			where j.state = 'queued' and j.not_before_block <= h.number), 0) * 1000 as job_ms`;

/** Checks continuously for work that no worker does. The returned function stops that and returns the worst delays. */
export async function watchStalls(databaseUrl: string): Promise<() => Promise<Stalls>> {
	const database = await connectDatabase(databaseUrl);
	const worst = { swapMs: 0, jobMs: 0, lateMs: 0 };
	let isOver = false;
	const watching = (async () => {
		while (!isOver) {
			const startedAt = performance.now();
			const [row] = await database.query<StalledWork>(stalledWork);
			worst.swapMs = Math.max(worst.swapMs, Math.round(Number(row?.swap_ms)));
			worst.jobMs = Math.max(worst.jobMs, Math.round(Number(row?.job_ms)));
			await sleep(lookEveryMs);
			worst.lateMs = Math.max(worst.lateMs, Math.round(performance.now() - startedAt - lookEveryMs));
		}
	})();
	return async () => {
		isOver = true;
		await watching;
		await database.end();
		return worst;
	};
}
