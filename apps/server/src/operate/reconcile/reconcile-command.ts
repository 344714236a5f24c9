import { formatReport, type Report } from "../../audit/read/report.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readSecret } from "../../config/secrets.ts";
import { openDatabase } from "../../database/database.ts";
import { describeError } from "../../telemetry/log.ts";
import { auditBooks } from "./audit-books.ts";

/** Returns the exit code: 0 if all invariants hold, 1 if one does not, 3 if that could not be determined. */
export async function reconcileCommand({
	config,
	json,
}: {
	config: string;
	json?: boolean;
}): Promise<number> {
	const pool = openDatabase({
		url: readSecret("AUDITOR_DATABASE_URL"),
		applicationName: "geoswapd reconcile",
		max: 2,
	});
	let report: Report;
	try {
		report = await auditBooks(pool, { config });
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		console.error("error: the books could not be audited:", describeError(error));
		return 3;
	} finally {
		await pool.end();
	}
	console.log(json ? JSON.stringify(report) : formatReport(report));
	if (!report.ok) return 1;
	return report.unchecked.length > 0 ? 3 : 0;
}
