import type { Milliseconds } from "@geoswap/protocol";
import { type Meter, sample } from "../telemetry/meter.ts";

/** Publishes which configuration the process uses: processes of one service should have read it at about one time. */
export function watchConfig({ meter, loadedAtMs }: { meter: Meter; loadedAtMs: Milliseconds }): void {
	meter.reading({
		name: "config",
		gauges: {
			geoswap_config_loaded_timestamp_seconds: "When the configuration in use was read, in Unix time",
		},
		read: () => [sample("geoswap_config_loaded_timestamp_seconds", loadedAtMs / 1_000)],
	});
}
