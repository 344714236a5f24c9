import type { Milliseconds } from "@geoswap/protocol";
import type { KeyNetworks } from "../api/key/key-networks.ts";
import { type SealKeys, sealingKey } from "../config/seal-keys.ts";
import { type Meter, sample } from "../telemetry/meter.ts";

/** Publishes how widely API keys are used, and how old the seal key is, but never which key. */
export function watchKeys({
	meter,
	networks,
	sealKeys,
	nowMs,
}: {
	meter: Meter;
	networks: Pick<KeyNetworks, "most">;
	sealKeys: SealKeys;
	nowMs: () => Milliseconds;
}): void {
	meter.reading({
		name: "keys",
		gauges: {
			geoswap_api_key_networks:
				"Networks from which the most widely used API key was used within the last hour, by this process",
			geoswap_seal_key_age_seconds:
				"Time since the key that seals now began to. Absent for a first key, which has no time",
		},
		read: () => {
			const ageMs = nowMs() - sealingKey(sealKeys).sealsFromMs;
			return [
				sample("geoswap_api_key_networks", networks.most()),
				...(Number.isFinite(ageMs) ? [sample("geoswap_seal_key_age_seconds", ageMs / 1_000)] : []),
			];
		},
	});
}
