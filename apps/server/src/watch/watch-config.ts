import type { Milliseconds } from "@geoswap/protocol";
import { type Meter, sample } from "../telemetry/meter.ts";

/**
 * Publishes when the configuration in use was read, since all processes of a service should have read it at about the
 * same time.
 */
export function watchConfig({ meter, loadedAtMs }: { meter: Meter; loadedAtMs: Milliseconds }): void {
	meter.reading({
		name: "config",
		gauges: {
			geoswap_config_loaded_timestamp_seconds: "When the configuration in use was read, in Unix time",
		},
		read: () => [sample("geoswap_config_loaded_timestamp_seconds", loadedAtMs / 1_000)],
	});
}
