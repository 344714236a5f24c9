import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import type { Log } from "./log.ts";
import type { Meter } from "./meter.ts";
import { startMetrics } from "./start-metrics.ts";
import { startTracing } from "./start-tracing.ts";
import type { Tracer } from "./tracer.ts";

export type Telemetry = {
	/** Undefined if nothing is traced. */
	tracer: Tracer | undefined;
	/** Undefined if metrics are not configured. */
	meter: Meter | undefined;
	stop: () => Promise<void>;
};

/** Starts the configured tracing and metrics. */
export async function startTelemetry({
	config: { tracesUrl, sampleRatio },
	metrics: listen,
	service,
	nowMs,
	log,
}: {
	config: Config["telemetry"];
	metrics: { host: string; port: number } | undefined;
	service: string;
	nowMs: () => Milliseconds;
	log: Log;
}): Promise<Telemetry> {
	const metrics = listen && (await startMetrics({ ...listen, nowMs, log }));
	if (metrics) log.info({ url: metrics.url }, "metrics");
	const tracing =
		tracesUrl === undefined || sampleRatio === 0
			? undefined
			: startTracing({ tracesUrl, sampleRatio, service, nowMs, random: Math.random, log });
	return {
		tracer: tracing?.tracer,
		meter: metrics?.meter,
		stop: async () => {
			await tracing?.stop();
			await metrics?.stop();
		},
	};
}
