import type { Milliseconds } from "@geoswap/protocol";
/**
 * The length of a lane's leases. A worker that dies blocks its jobs for that long, so leases are short. Another worker
 * then takes the jobs at the next tick, within a second. A node may need longer, and the work of a lost lease is
 * discarded. The next lease is then twice as long, and after one that ended in time, three times as long as that took.
 */
export type LeaseTime = {
	ms: () => number;
	ended: (lease: { outcome: "journalled" | "changed" | "lost"; tookMs: Milliseconds }) => void;
};

const shortestMs = 2_000;
/** About the longest time that all calls to a node for one bundle take until they time out. */
const maxMs = 64_000;

export function createLeaseTime(): LeaseTime {
	let nextMs = shortestMs;
	return {
		ms: () => nextMs,
		ended: ({ outcome, tookMs }) => {
			const wantedMs = outcome === "lost" ? nextMs * 2 : tookMs * 3;
			nextMs = Math.min(Math.max(wantedMs, shortestMs), maxMs);
		},
	};
}
