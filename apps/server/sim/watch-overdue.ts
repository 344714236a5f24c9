import type { Fault, Plan } from "./plan.ts";
import type { World } from "./world.ts";

const lookEveryMs = 1_000;
/**
 * Milliseconds that a swap may be due. A worker's tick takes swaps that have been due for two seconds, but it may wait
 * for the database, and have several to do.
 */
const patienceMs = 15_000;
/** Milliseconds that workers need to recover after a fault that kept them from their work. */
const recoverMs = 15_000;

/** Returns true for faults during which a tick may be unable to do anything. */
function excuses(fault: Fault): boolean {
	return ["crash", "database", "restore", "clock-skew"].includes(fault.kind);
}

/** Checks every second that no swap has been due for long while a worker and the database were available. */
export function watchOverdue(world: World, plan: Plan, startsInMs: number): string[] {
	const { scheduler, database, startMs } = world;
	const violations: string[] = [];
	const isExcused = (nowMs: number) =>
		plan.faults.some((fault) => {
			const lastsMs = "forMs" in fault ? fault.forMs : "downMs" in fault ? fault.downMs + patienceMs : 0;
			return excuses(fault) && nowMs >= fault.atMs && nowMs <= fault.atMs + lastsMs + patienceMs + recoverMs;
		});
	const look = async () => {
		const { rows } = await database.pool.query<{ swap_id: string; ms: number }>(
			`select swap_id, (extract(epoch from now() - due_at) * 1000)::double precision as ms from waits
			where due_at <= now() - $1 * interval '1 millisecond' order by due_at, swap_id limit 1`,
			[patienceMs],
		);
		const [overdue] = rows;
		const nowMs = scheduler.nowMs() - startMs - startsInMs;
		if (overdue && violations.length === 0 && !isExcused(nowMs)) {
			violations.push(
				`${overdue.swap_id} was due for ${Math.round(overdue.ms / 1_000)} s, but no worker looked at it`,
			);
		}
		scheduler.in(lookEveryMs, "look for what is overdue", look);
	};
	scheduler.in(startsInMs, "look for what is overdue", look);
	return violations;
}
