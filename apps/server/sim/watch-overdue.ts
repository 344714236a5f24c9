import type { Fault, Plan } from "./plan.ts";
import type { World } from "./world.ts";

const lookEveryMs = 1_000;
/** A worker's tick does what has been due for two seconds. It may have waited for the database, and hold several. */
const patienceMs = 15_000;
/** After a fault that keeps workers from their work, they need a moment. */
const recoverMs = 15_000;

/** Faults in which no tick may be able to do anything. */
function excuses(fault: Fault): boolean {
	return ["crash", "database", "restore", "clock-skew"].includes(fault.kind);
}

/** Looks every second whether a swap has been due for long although a worker and the database were there. */
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
				`${overdue.swap_id} was due for ${Math.round(overdue.ms / 1_000)} s, and nobody looked`,
			);
		}
		scheduler.in(lookEveryMs, "look for what is overdue", look);
	};
	scheduler.in(startsInMs, "look for what is overdue", look);
	return violations;
}
