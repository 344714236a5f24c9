import type { DatabasePool } from "./database.ts";

/**
 * Runs while no other process runs under the same name; does nothing where one does. The lock is a connection's: it is
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
		// Closed, not given back: another user of it would hold the lock.
		connection.release(true);
	}
}
