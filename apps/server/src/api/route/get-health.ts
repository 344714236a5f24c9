import type { Route } from "../http/route.ts";
import { getHealthDoc } from "../openapi/endpoints/get-health.ts";

/** GET /health: tells that the process answers. It does not report dependencies: a restart would not fix those. */
export function getHealth(): Route {
	return {
		method: "GET",
		path: "/health",
		operation: undefined,
		isUnlimited: true,
		doc: getHealthDoc,
		handle: async () => ({ status: "ok" }),
	};
}
