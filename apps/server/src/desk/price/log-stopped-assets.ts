import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PriceCache } from "./price-cache.ts";
import { describeStop } from "./price-stop.ts";

const everyMs = 1_000;

/**
 * Logs each asset that is no longer quoted, with the reason, and each that is quoted again, until the signal aborts.
 */
export async function logStoppedAssets({
	config,
	priceCache,
	nowMs,
	signal,
	log,
}: {
	config: Pick<Config, "chains">;
	priceCache: Pick<PriceCache, "stopOf">;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	const tell = createStopTeller({ config, priceCache, log });
	while (!signal.aborted) {
		tell(nowMs());
		await sleep(everyMs, undefined, { signal }).catch(() => {});
	}
}

/** Returns a function that logs what has changed since its last call. */
export function createStopTeller({
	config,
	priceCache,
	log,
}: {
	config: Pick<Config, "chains">;
	priceCache: Pick<PriceCache, "stopOf">;
	log: Pick<Log, "warn" | "info">;
}): (nowMs: Milliseconds) => void {
	const told = new Map<string, string>();
	return (nowMs) => {
		for (const { chainId, symbol, token } of configuredAssets(config)) {
			const stop = priceCache.stopOf({ chainId, asset: token }, { nowMs });
			// A chain without fresh prices is logged once, not for each asset.
			if (stop?.reason === "prices-old") continue;
			const key = `${chainId} ${token}`;
			const because = stop && describeStop(stop);
			if (because === told.get(key)) continue;
			const asset = { chainId, symbol };
			if (because === undefined) {
				told.delete(key);
				log.info(asset, "the asset is quoted again");
			} else {
				told.set(key, because);
				log.warn({ ...asset, because }, "the asset is not quoted until its price is certain again");
			}
		}
	};
}
