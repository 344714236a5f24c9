import { setTimeout as sleep } from "node:timers/promises";
import type { ChainDeployment } from "@geoswap/protocol";
import type { DevnetChain } from "./devnet-chain.ts";
import { readFeeds, refreshFeeds } from "./refresh-feeds.ts";

const pollMs = 500;

/** Low enough that a feed is never stale, except in the moment after the chain's clock was moved. */
const refreshAtFractionOfHeartbeat = 0.25;

/**
 * Posts to the feeds before they are stale by the chain's own clock, at any speed of that clock. Returns a function
 * that stops it.
 */
export function keepFeedsFresh(chain: DevnetChain, deployment: ChainDeployment): () => Promise<void> {
	const stopping = new AbortController();
	const done = keep();
	return async () => {
		stopping.abort();
		await done;
	};

	async function keep(): Promise<void> {
		while (!stopping.signal.aborted) {
			try {
				const readings = await readFeeds(chain, deployment);
				const isOld = readings.some(
					({ ageSeconds, heartbeatSeconds }) => ageSeconds > heartbeatSeconds * refreshAtFractionOfHeartbeat,
				);
				if (isOld) await refreshFeeds(chain, deployment);
			} catch {
				// The chain may be reset, paused or about to stop. The next iteration tries again.
			}
			await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => {});
		}
	}
}
