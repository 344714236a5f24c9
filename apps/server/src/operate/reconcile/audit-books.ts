import type { Report } from "../../audit/read/report.ts";
import { reconcile } from "../../audit/reconcile.ts";
import { type ChainConfig, evmChains, firstUrl, nodesFor, solanaChain } from "../../config/chain-config.ts";
import { readConfig } from "../../config/read-config.ts";
import type { DatabasePool } from "../../database/database.ts";

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

/** Returns a chain with the nodes that the audit reads, the preferred one first. */
export function withAuditedNodes<Chain extends ChainConfig>(
	chain: Chain,
): Chain & { rpcUrl: string; otherUrls: string[] } {
	const [, ...others] = nodesFor("read", chain);
	return { ...chain, rpcUrl: firstUrl(chain), otherUrls: others.map(({ url }) => url) };
}
