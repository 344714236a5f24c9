import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import { readOptionalSecret } from "../config/secrets.ts";
import type { DenyMetrics } from "../telemetry/deny-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import { openDenyFile } from "./deny-file.ts";
import { createDenyList, type DenyList } from "./deny-list.ts";
import { createDenyService } from "./deny-service.ts";

/** Opens the configured list; undefined if there is none. Throws a ConfigError if its file cannot be used. */
export async function openDenyList({
	settings,
	metrics,
	nowMs,
	log,
}: {
	settings: Config["denyList"];
	metrics?: DenyMetrics | undefined;
	nowMs: () => Milliseconds;
	log: Log;
}): Promise<DenyList | undefined> {
	if (!settings) return undefined;
	const { file, url, ...limits } = settings;
	const onLookup = metrics?.lookedUp;
	if (file !== undefined) return createDenyList(await openDenyFile({ path: file, onLookup, log }), metrics);
	if (url === undefined) return undefined;
	const token = readOptionalSecret("GEOSWAP_DENY_TOKEN");
	return createDenyList(createDenyService({ url, ...limits, token, onLookup, nowMs, log }), metrics);
}
