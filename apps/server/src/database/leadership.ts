import type { DatabasePool } from "./database.ts";

/**
 * Calls `run`, or does nothing if another process runs under the same name. The lock belongs to a connection: it is
 * free as soon as that is gone, however this process ends.
 */
export async function holdLeadership(
	pool: DatabasePool,
	{ name }: { name: string },
	run: (isHeld: () => boolean) => Promise<void>,
): Promise<void> {
	const connection = await pool.connect();
	let isHeld = true;
	const lose = () => {
		isHeld = false;
	};
	connection.on("error", lose);
	connection.on("end", lose);
	try {
		const { rows } = await connection.query<{ locked: boolean }>(
			"select pg_try_advisory_lock(hashtextextended($1, 0)) as locked",
			[name],
		);
		if (rows[0]?.locked) await run(() => isHeld);
	} finally {
		connection.off("error", lose);
		connection.off("end", lose);
		// The connection is closed, not given back: its next user would hold the lock.
		connection.release(true);
	}
}
