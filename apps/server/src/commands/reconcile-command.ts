import { reconcile } from "../audit/reconcile.ts";
import { formatReport } from "../audit/report.ts";
import { readConfig } from "../config.ts";
import { readSecret } from "../secrets.ts";
import { openDatabase } from "../store/database.ts";

/** Returns the exit code: 0 where all invariants hold, 1 where one does not. */
export async function reconcileCommand({
	config,
	json,
}: {
	config: string;
	json?: boolean;
}): Promise<number> {
	const { chains } = readConfig(config);
	const pool = openDatabase({
		url: readSecret("DATABASE_URL"),
		applicationName: "geoswapd reconcile",
		max: 2,
	});
	try {
		const report = await reconcile({ pool, chains, nowMs: Date.now() });
		console.log(json ? JSON.stringify(report) : formatReport(report));
		return report.ok ? 0 : 1;
	} finally {
		await pool.end();
	}
}
