import { readSecret } from "../secrets.ts";
import { openDatabase } from "../store/database.ts";
import { restartSwaps } from "../store/restart-swaps.ts";
import { noteRestore } from "../store/restores.ts";

/** Database and engine may not be of one moment any more: what the engine remembers of swaps counts for nothing. */
export async function restoredCommand({ json }: { json?: boolean }): Promise<void> {
	const pool = openDatabase({
		url: readSecret("DATABASE_URL"),
		applicationName: "geoswapd restored",
		max: 1,
	});
	try {
		const nowMs = Date.now();
		await noteRestore(pool, { nowMs });
		const restarted = await restartSwaps(pool, { nowMs });
		if (json) console.log(JSON.stringify({ restarted }));
		else console.log(`${restarted} unfinished swaps start anew within ten minutes of the worker's start`);
	} finally {
		await pool.end();
	}
}
