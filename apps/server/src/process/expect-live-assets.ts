import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { Config } from "../config/config.ts";
import { configuredAssets } from "../config/configured-assets.ts";
import type { Desk } from "../desk/venue.ts";
import type { Log } from "../telemetry/log.ts";

type Quoting = { config: Pick<Config, "chains">; desk: Pick<Desk, "isLive"> };

/**
 * Waits until `next` quotes all that `before` quotes, and its new assets too. Throws if, at the end of its patience, an
 * asset would no longer be quoted that still is. A new asset without a price by then is only logged: nothing of it was
 * quoted before.
 */
export async function expectLiveAssets(
	next: Quoting,
	{
		before,
		patienceMs = 30_000,
		everyMs = 50,
		signal,
		log,
	}: {
		before: Quoting;
		patienceMs?: Milliseconds;
		everyMs?: Milliseconds;
		signal: AbortSignal;
		log: Log;
	},
): Promise<void> {
	const deadlineMs = performance.now() + patienceMs;
	const known = new Set(configuredAssets(before.config).map(keyOf));
	const assets = configuredAssets(next.config);
	for (;;) {
		signal.throwIfAborted();
		const dead = assets.filter((asset) => !next.desk.isLive(asset));
		const added = dead.filter((asset) => !known.has(keyOf(asset)));
		const lost = dead.filter((asset) => known.has(keyOf(asset)) && before.desk.isLive(asset));
		if (lost.length + added.length === 0) return;
		if (performance.now() > deadlineMs) {
			if (lost.length > 0) throw new Error(`there is no price of ${namesOf(lost)}, which are quoted now`);
			log.warn({ assets: namesOf(added) }, "new assets have no price yet; they are quoted when they do");
			return;
		}
		await sleep(everyMs, undefined, { signal }).catch(() => {});
	}
}

type Asset = ReturnType<typeof configuredAssets>[number];

function keyOf({ chainId, token }: Asset): string {
	return `${chainId} ${token.toLowerCase()}`;
}

function namesOf(assets: readonly Asset[]): string {
	return assets.map(({ symbol, chainId }) => `${symbol} on ${chainId}`).join(", ");
}
