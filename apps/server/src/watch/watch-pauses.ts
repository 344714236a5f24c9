import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import type { Pause, PauseCause } from "../swap/pause/pauses.ts";
import { type Meter, sample } from "../telemetry/meter.ts";

const causes: readonly PauseCause[] = ["breach", "finality", "operator"];

/** Publishes which chains are paused, and why. */
export function watchPauses({
	meter,
	config,
	read,
	maxAgeMs = 0,
}: {
	meter: Meter;
	config: Pick<Config, "chains">;
	/** Returns the open pauses, or undefined if they are not known. */
	read: () => readonly Pause[] | undefined | Promise<readonly Pause[]>;
	maxAgeMs?: Milliseconds;
}): void {
	meter.reading({
		name: "pauses",
		gauges: {
			geoswap_chain_paused: "1 if the chain is paused, so that nothing from or to it is quoted, by cause",
		},
		maxAgeMs,
		read: async () => {
			const pauses = await read();
			if (!pauses) return [];
			// Every series always exists, because an alert cannot distinguish an absent series from a healthy one.
			return config.chains.flatMap(({ chainId }) =>
				causes.map((cause) => {
					const isPaused = pauses.some((pause) => pause.chainId === chainId && pause.cause === cause);
					return sample("geoswap_chain_paused", isPaused ? 1 : 0, { chain: String(chainId), cause });
				}),
			);
		},
	});
}
