import { statsResponseSchema } from "@geoswap/protocol";
import type { Route } from "../http/route.ts";
import { exampleIntent } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import type { RouteStats } from "../status/route-stats.ts";

/** GET /stats: how long swaps take and how much of the promised output they deliver, by route. */
export function getStats({ stats }: { stats: Pick<RouteStats, "read"> }): Route {
	return {
		method: "GET",
		path: "/stats",
		operation: undefined,
		doc: getStatsDoc,
		headers: { "cache-control": "public, max-age=60" },
		handle: () => stats.read(),
	};
}

const getStatsDoc: RouteDoc = {
	id: "getStats",
	summary: "How swaps went lately",
	description: `Returns percentiles of settled swaps by route: the time from submit to \`settled\`, and what was delivered compared with what
was quoted. The figures are about the newest 20,000 settled swaps of the last seven days whose transactions are final. A route with
fewer than \`minSwaps\` of them is left out.`,
	response: statsResponseSchema,
	errors: [],
	example: {
		response: {
			computedAt: "2026-06-01T12:00:00.000Z",
			days: 7,
			minSwaps: 100,
			routes: [
				{
					originChain: exampleIntent.originChain,
					destinationChain: exampleIntent.destinationChain,
					swaps: 1200,
					secondsToSettled: { p50: 6.4, p90: 9.8, p95: 12.1 },
					deliveredBps: { p50: 10000, p90: 10000, p95: 9998 },
				},
			],
		},
	},
};
