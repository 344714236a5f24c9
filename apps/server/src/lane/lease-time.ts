/**
 * How long a lane's leases are. A worker that dies keeps its jobs from others for that long, so they are short: a tick of a
 * second later somebody else has them. A node may need longer, and a lease that is lost comes to nothing: so the next one
 * is twice as long, and after one that was in time, three times what that took.
 */
export type LeaseTime = {
	ms: () => number;
	ended: (lease: { outcome: "journalled" | "changed" | "lost"; tookMs: number }) => void;
};

const shortestMs = 2_000;
/** About as long as all calls to a node for one bundle take at most before they are given up. */
const longestMs = 64_000;

export function createLeaseTime(): LeaseTime {
	let nextMs = shortestMs;
	return {
		ms: () => nextMs,
		ended: ({ outcome, tookMs }) => {
			const wantedMs = outcome === "lost" ? nextMs * 2 : tookMs * 3;
			nextMs = Math.min(Math.max(wantedMs, shortestMs), longestMs);
		},
	};
}
