import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import { configuredAssets } from "../config/configured-assets.ts";
import type { DatabasePool } from "../database/database.ts";
import type { Desk } from "../desk/desk.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import { readPauses } from "../swap/pause/pauses.ts";
import type { Meter } from "../telemetry/meter.ts";
import { type PayoutToken, swapMetrics } from "../telemetry/swap-metrics.ts";
import { followerMetrics, laneMetrics, tickMetrics } from "../telemetry/worker-metrics.ts";
import { watchClock } from "../watch/watch-clock.ts";
import { watchDatabase } from "../watch/watch-database.ts";
import { watchPauses } from "../watch/watch-pauses.ts";
import { watchPrices } from "../watch/watch-prices.ts";
import { watchRelayers } from "../watch/watch-relayers.ts";
import { watchSigningKeys } from "../watch/watch-signing-keys.ts";
import type { WorkerChain } from "./worker-chain.ts";

const pausesMaxAgeMs = 5_000;

/** Publishes the metrics that only a worker has: its prices, the state of the store, its relayers' funds, pauses. */
export function watchWorker({
	meter,
	config,
	chains,
	priceCache,
	desk,
	db,
	nowMs,
}: {
	meter: Meter;
	config: Config;
	chains: readonly WorkerChain[];
	priceCache: PriceCache;
	desk: Desk;
	/** A pool apart from that of swaps. */
	db: DatabasePool;
	nowMs: () => Milliseconds;
}): void {
	watchPrices({ meter, config, priceCache, desk, nowMs });
	watchDatabase({ meter, config, db, nowMs });
	watchRelayers({ meter, chains, db, nowMs });
	watchSigningKeys({ meter, config, chains, db });
	watchClock({ meter, db, nowMs });
	watchPauses({ meter, config, read: () => readPauses(db), maxAgeMs: pausesMaxAgeMs });
}

/** Creates the counters of a worker's actions. */
export function workerMetrics(meter: Meter, { chains }: Pick<Config, "chains">) {
	const secondProvidersOf = chains.flatMap(({ chainId, agreeAboveUsd }) =>
		agreeAboveUsd === undefined ? [] : chainId,
	);
	const chainIds = chains.map(({ chainId }) => chainId);
	return {
		swaps: swapMetrics(meter, { chainIds, secondProvidersOf, payoutTokens: payoutTokensOf({ chains }) }),
		lanes: laneMetrics(meter, { chainIds }),
		followers: followerMetrics(meter, { chainIds }),
		ticks: tickMetrics(meter),
	};
}

/** Returns the tokens of which vaults need inventory. On an EVM chain its settlement token buys all others. */
function payoutTokensOf({ chains }: Pick<Config, "chains">): PayoutToken[] {
	return configuredAssets({ chains }).flatMap((asset): PayoutToken[] => {
		const chain = chains.find(({ chainId }) => chainId === asset.chainId);
		if (chain?.kind !== "evm") return [{ ...asset, isSettlement: false }];
		return asset.token === chain.deployment.settlementToken ? [{ ...asset, isSettlement: true }] : [];
	});
}
