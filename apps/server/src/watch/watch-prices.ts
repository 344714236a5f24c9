import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import { configuredAssets } from "../config/configured-assets.ts";
import type { Desk } from "../desk/desk.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import { stopReasons } from "../desk/price/price-stop.ts";
import { type Meter, sample } from "../telemetry/meter.ts";

/** Publishes how old this process's prices are, and which assets it quotes. */
export function watchPrices({
	meter,
	config,
	priceCache,
	desk,
	nowMs,
}: {
	meter: Meter;
	config: Pick<Config, "chains">;
	priceCache: Pick<PriceCache, "ageMs" | "feedUpdatedAtUnixSeconds" | "referencesApartBps">;
	desk: Pick<Desk, "isLive" | "stopOf">;
	nowMs: () => Milliseconds;
}): void {
	meter.reading({
		name: "prices",
		gauges: {
			geoswap_price_age_seconds: "Age of a chain's newest prices",
			geoswap_feed_age_seconds: "Time since an asset's price feed was last updated",
			geoswap_references_apart_bps: "Difference between an asset's price feed and Pyth, in basis points",
			geoswap_asset_live: "1 if the asset is quoted now, 0 if its quotes are refused",
			geoswap_asset_stopped: "1 if quotes of the asset are refused for this reason",
		},
		read: () => {
			const assets = configuredAssets(config);
			const chainIds = new Set(assets.map(({ chainId }) => chainId));
			return [
				...[...chainIds].flatMap((chainId) => {
					const ageMs = priceCache.ageMs(chainId, { nowMs: nowMs() });
					return ageMs === undefined
						? []
						: sample("geoswap_price_age_seconds", ageMs / 1_000, { chain: String(chainId) });
				}),
				...assets.flatMap(({ chainId, symbol, token }) => {
					const labels = { chain: String(chainId), token: symbol };
					const apartBps = priceCache.referencesApartBps({ chainId, asset: token }, { nowMs: nowMs() });
					const updatedAt = priceCache.feedUpdatedAtUnixSeconds({ chainId, asset: token });
					const stop = desk.stopOf({ chainId, token });
					return [
						sample("geoswap_asset_live", desk.isLive({ chainId, token }) ? 1 : 0, labels),
						// Every reason has a series, even at 0, because an alert cannot distinguish an absent series from a
						// healthy one.
						...stopReasons.map((reason) =>
							sample("geoswap_asset_stopped", stop?.reason === reason ? 1 : 0, { ...labels, reason }),
						),
						...(updatedAt === undefined
							? []
							: [sample("geoswap_feed_age_seconds", nowMs() / 1_000 - updatedAt, labels)]),
						...(apartBps === undefined ? [] : [sample("geoswap_references_apart_bps", apartBps, labels)]),
					];
				}),
			];
		},
	});
}
