import type { Milliseconds } from "@geoswap/protocol";
import type { ConsoleConfig } from "../config/config-problems.ts";
import type { DatabasePool } from "../database/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { WorkerMetrics } from "./read/worker-metrics.ts";

/** Everything that the console's pages need. */
export type ConsoleParts = {
	/** A small pool of the console's own role, with a statement timeout. */
	pool: DatabasePool;
	config: ConsoleConfig;
	/** The address that operators type into the browser. */
	publicUrl: string;
	/** True on chains that exist on one machine only. There the one-time link itself logs in. */
	isDevnet: boolean;
	readMetrics: () => Promise<WorkerMetrics>;
	nowMs: () => Milliseconds;
	random: (bytes: number) => Buffer;
	log: Log;
};
