import { evmChains, solanaChain } from "../config/chain-config.ts";
import { readConfig } from "../config/read-config.ts";
import { readSecret } from "../config/secrets.ts";
import { openDatabase } from "../database/database.ts";
import { withAuditedNodes } from "../operate/reconcile/audit-books.ts";
import { expectDatabase } from "../preflight/expect-database.ts";
import { createLog } from "../telemetry/log.ts";
import { startMetrics } from "../telemetry/start-metrics.ts";
import { keepAudited } from "../watch/keep-audited.ts";
import { watchAudit } from "../watch/watch-audit.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

/** One connection holds the leadership, one reads. */
const database = { applicationName: "geoswapd audit", max: 2 };

/**
 * Runs the process that audits the books. It holds no key, and its login may write only pauses, because a process
 * that strangers can make read a lot, or that is taken over, must not be one that swaps need or that signs.
 */
export async function runAudit(configPath: string): Promise<void> {
	const config = readConfig(configPath);
	const url = readSecret("AUDITOR_DATABASE_URL");
	const log = createLog({ level: config.logLevel, process: "audit" });
	const nowMs = Date.now;
	const metrics = config.audit.metrics && (await startMetrics({ ...config.audit.metrics, nowMs, log }));
	if (metrics) log.info({ url: metrics.url }, "metrics");
	const pool = openDatabase({ url, ...database });
	await expectDatabase(pool, "auditor", config.database.roles);
	const solana = solanaChain(config);
	const stopping = new AbortController();
	const audited = keepAudited({
		config,
		books: {
			chains: evmChains(config).map(withAuditedNodes),
			solana: solana && withAuditedNodes(solana),
			earlierAttesterSets: config.earlierAttesterSets.map(({ hash }) => hash),
		},
		pool,
		...(metrics && watchAudit({ meter: metrics.meter, config, nowMs })),
		nowMs,
		signal: stopping.signal,
		log,
	});
	log.info("auditing");
	await runUntilStopped({
		stopping,
		close: [() => audited, () => pool.end(), () => metrics?.stop()],
		log,
	});
}
