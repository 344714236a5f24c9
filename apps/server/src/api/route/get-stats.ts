import type { Route } from "../http/route.ts";
import { getStatsDoc } from "../openapi/endpoints/get-stats.ts";
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
