import type { Route } from "../http/route.ts";
import { getHealthDoc } from "../openapi/endpoints/get-health.ts";

/** The process answers. It says nothing of what it depends on: restarting it would not mend that. */
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
