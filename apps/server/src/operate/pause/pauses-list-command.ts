import { type Pause, readLiftedPauses, readPauses } from "../../swap/pause/pauses.ts";
import { withDatabase } from "../with-database.ts";

const maxLifted = 20;

/** Returns the exit code: 0 if no chain is paused, 1 if one is. */
export async function listPausesCommand({ json }: { json?: boolean }): Promise<number> {
	const { open, lifted } = await withDatabase(async (pool) => ({
		open: await readPauses(pool),
		lifted: await readLiftedPauses(pool, { limit: maxLifted }),
	}));
	if (json) console.log(JSON.stringify({ open, lifted }));
	else {
		for (const pause of open) console.log(describePause(pause));
		for (const { liftedAt, liftedBy, liftedReason, ...pause } of lifted) {
			const when = liftedAt.toISOString();
			console.log(`lifted ${when} by ${liftedBy}, "${liftedReason}": ${describePause(pause)}`);
		}
		if (open.length === 0) console.log("no chain is paused");
	}
	return open.length === 0 ? 0 : 1;
}

export function describePause({ chainId, cause, reason, setBy, since, breaches }: Pause): string {
	const lines = [`chain ${chainId}: paused since ${since.toISOString()} by ${setBy} (${cause}): ${reason}`];
	return [...lines, ...breaches.map((breach) => `  ${breach}`)].join("\n");
}
