import type { Report } from "../../audit/read/report.ts";
import { reconcile } from "../../audit/reconcile.ts";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import { readConfig } from "../../config/read-config.ts";
import type { DatabasePool } from "../../database/database.ts";

/** Runs a full audit by a configuration file. Throws a CouldNotCheckError if the database does not answer. */
export function auditBooks(pool: DatabasePool, { config: path }: { config: string }): Promise<Report> {
	const config = readConfig(path);
	return reconcile({
		pool,
		chains: evmChains(config),
		solana: solanaChain(config),
		earlierAttesterSets: config.earlierAttesterSets.map((set) => set.hash),
		nowMs: Date.now(),
	});
}
