import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { expectConsole, metricsUrlsOf, publicUrlOf } from "../config/config-problems.ts";
import { isDevnet } from "../config/is-devnet.ts";
import { readConfig } from "../config/read-config.ts";
import { readSecret } from "../config/secrets.ts";
import { createConsole } from "../console/create-console.ts";
import { createWorkerMetrics } from "../console/read/worker-metrics.ts";
import { openDatabase } from "../database/database.ts";
import { expectDatabase } from "../preflight/expect-database.ts";
import { createLog } from "../telemetry/log.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

/** Few connections and short statements, so that operators' searches never delay swaps. */
const connections = 4;
const statementTimeoutMs = 5_000;

/** Runs the process that serves the operator's pages. It holds no key, and may write only pauses and its own tables. */
export async function runConsole(configPath: string): Promise<void> {
	const config = expectConsole(readConfig(configPath), configPath);
	const url = readSecret("CONSOLE_DATABASE_URL");
	const log = createLog({ level: config.logLevel, process: "console" });
	const pool = openDatabase({
		url,
		applicationName: "geoswapd console",
		max: connections,
		statementTimeoutMs,
	});
	await expectDatabase(pool, "console", config.database.roles);
	const nowMs = Date.now;
	const publicUrl = publicUrlOf(config);
	const app = createConsole({
		pool,
		config,
		publicUrl,
		isDevnet: isDevnet(config),
		readMetrics: createWorkerMetrics({ urls: metricsUrlsOf(config), nowMs }),
		nowMs,
		random: randomBytes,
		log,
	});
	await app.listen({ host: config.console.host, port: config.console.port });
	log.info({ port: (app.server.address() as AddressInfo).port, publicUrl }, "listening");
	await runUntilStopped({
		stopping: new AbortController(),
		close: [() => app.close(), () => pool.end()],
		log,
	});
}
