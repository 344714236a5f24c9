import type { Report } from "../../audit/read/report.ts";
import { reconcile } from "../../audit/reconcile.ts";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import { readConfig } from "../../config/read-config.ts";
import type { DatabasePool } from "../../database/database.ts";
import { withAuditedNodes } from "./with-audited-nodes.ts";

/** Runs a full audit by a configuration file. Throws a CouldNotCheckError if the database does not answer. */
export function auditBooks(pool: DatabasePool, { config: path }: { config: string }): Promise<Report> {
	const config = readConfig(path);
	const solana = solanaChain(config);
	return reconcile({
		pool,
		chains: evmChains(config).map(withAuditedNodes),
		solana: solana && withAuditedNodes(solana),
		earlierAttesterSets: config.earlierAttesterSets.map((set) => set.hash),
		nowMs: Date.now(),
	});
}
