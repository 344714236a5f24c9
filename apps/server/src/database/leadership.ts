import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type pg from "pg";
import type { DatabasePool } from "./database.ts";

/** Interval of a leader's heartbeats. */
const defaultBeatMs = 2_000;
/** How long a leader may be silent. Several heartbeats, because a busy process is late with them. */
const defaultSilentMs = 10_000;

/** Waits for this time, and throws if it is aborted. */
export type UntilBeat = (ms: Milliseconds, signal: AbortSignal) => Promise<void>;

/**
 * Calls `run`, or does nothing if another process runs under the same name. The lock belongs to a connection and is
 * free as soon as that is closed, regardless of how this process ends. A process that is frozen, or whose machine is
 * cut off, does not close its connection. PostgreSQL closes it once the leader was silent for too long.
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
		// The connection is closed and not given back, because its next user would hold the lock. Its error listener stays,
		// because a heartbeat in flight may still fail, and nothing else listens.
		connection.release(true);
	}
}

/**
 * Sends heartbeats until the leadership is lost. A heartbeat without an answer ends it, because a database that is
 * gone does not close the connection either.
 */
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
