import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type pg from "pg";
import type { DatabasePool } from "./database.ts";

/** How often a leader shows that it is alive. */
const defaultBeatMs = 2_000;
/** How long a leader may be silent. Several beats, because a busy process is late with them. */
const defaultSilentMs = 10_000;

/** Waits so long, and throws if it is aborted. */
export type UntilBeat = (ms: Milliseconds, signal: AbortSignal) => Promise<void>;

/**
 * Calls `run`, or does nothing if another process runs under the same name. The lock belongs to a connection: it is
 * free as soon as that is gone, however this process ends. A process that is frozen, or whose machine is cut off, does
 * not close its connection: PostgreSQL closes it once the leader was silent for too long.
 */
export async function holdLeadership(
	pool: DatabasePool,
	{
		name,
		beatMs = defaultBeatMs,
		silentMs = defaultSilentMs,
		untilBeat = untilLater,
	}: { name: string; beatMs?: Milliseconds; silentMs?: Milliseconds; untilBeat?: UntilBeat },
	run: (isHeld: () => boolean) => Promise<void>,
): Promise<void> {
	const connection = await pool.connect();
	const lost = new AbortController();
	const lose = () => lost.abort();
	connection.on("error", lose);
	connection.on("end", lose);
	try {
		const { rows } = await connection.query<{ locked: boolean }>(
			`select pg_try_advisory_lock(hashtextextended($1, 0)) as locked,
				set_config('idle_session_timeout', $2, false)`,
			[name, `${silentMs}ms`],
		);
		if (!rows[0]?.locked) return;
		void keepBeating(connection, { beatMs, silentMs, untilBeat, lost });
		await run(() => !lost.signal.aborted);
	} finally {
		lose();
		connection.off("end", lose);
		// The connection is closed, not given back: its next user would hold the lock. A beat that is under way may still
		// fail, which nobody else would hear.
		connection.release(true);
	}
}

/** Beats until the leadership is lost. Without an answer it is: a database that is gone closes no connection either. */
async function keepBeating(
	connection: pg.PoolClient,
	{
		beatMs,
		silentMs,
		untilBeat,
		lost,
	}: { beatMs: Milliseconds; silentMs: Milliseconds; untilBeat: UntilBeat; lost: AbortController },
): Promise<void> {
	const beat: pg.QueryConfig & { query_timeout: number } = { text: "select 1", query_timeout: silentMs };
	try {
		for (;;) {
			await untilBeat(beatMs, lost.signal);
			await connection.query(beat);
		}
	} catch {
		lost.abort();
	}
}

function untilLater(ms: Milliseconds, signal: AbortSignal): Promise<void> {
	return sleep(ms, undefined, { signal });
}
