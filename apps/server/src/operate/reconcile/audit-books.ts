import type { Report } from "../../audit/read/report.ts";
import { reconcile } from "../../audit/reconcile.ts";
import { readConfig } from "../../config/read-config.ts";
import type { DatabasePool } from "../../database/database.ts";

/** Runs a full audit by a configuration file. Throws a CouldNotCheckError if the database does not answer. */
export function auditBooks(pool: DatabasePool, { config: path }: { config: string }): Promise<Report> {
	const { chains, solana, earlierAttesterSets } = readConfig(path);
	return reconcile({
		pool,
		chains,
		solana,
		earlierAttesterSets: earlierAttesterSets.map((set) => set.hash),
		nowMs: Date.now(),
	});
}
