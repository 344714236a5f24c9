import type { Milliseconds } from "@geoswap/protocol";
import { type Meter, sample } from "../../telemetry/meter.ts";

/** Publishes which configuration the process uses: processes of one service should have read it at about one time. */
export function watchConfig({
	meter,
	loadedAtMs,
	isRefused,
}: {
	meter: Meter;
	loadedAtMs: () => Milliseconds;
	/** Returns whether the last reload was refused. */
	isRefused: () => boolean;
}): void {
	meter.reading({
		name: "config",
		gauges: {
			geoswap_config_loaded_timestamp_seconds: "When the configuration in use was read, in Unix time",
			geoswap_config_reload_refused:
				"1 if the last reload was refused and an earlier configuration is in use",
		},
		read: () => [
			sample("geoswap_config_loaded_timestamp_seconds", loadedAtMs() / 1_000),
			sample("geoswap_config_reload_refused", isRefused() ? 1 : 0),
		],
	});
}
