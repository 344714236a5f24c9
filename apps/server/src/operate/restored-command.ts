import { readSecret } from "../config/secrets.ts";
import { openDatabase } from "../database/database.ts";
import { noteRestore } from "../database/restores.ts";
import { markAllDue } from "../swap/due/mark-swaps.ts";

/** Records that the database was restored from a backup, and makes every swap that has not ended due. */
export async function restoredCommand({ json }: { json?: boolean }): Promise<void> {
	const pool = openDatabase({
		url: readSecret("DATABASE_URL"),
		applicationName: "geoswapd restored",
		max: 1,
	});
	try {
		await noteRestore(pool, { nowMs: Date.now() });
		const due = await markAllDue(pool);
		if (json) console.log(JSON.stringify({ due }));
		else console.log(`${due} unfinished swaps will be checked as soon as a worker runs`);
	} finally {
		await pool.end();
	}
}
