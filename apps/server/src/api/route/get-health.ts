import * as z from "zod";
import type { Route } from "../http/route.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/**
 * GET /health: answers if the process runs. It does not report dependencies, because a restart would not fix those.
 */
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

const getHealthDoc: RouteDoc = {
	id: "getHealth",
	summary: "Whether the process answers",
	description: `For a supervisor that restarts processes. The answer does not depend on other services, since a restart would not fix
those: see [ready](#getReady).`,
	response: z.object({ status: z.literal("ok").describe("The process answers.") }),
	errors: [],
	example: { response: { status: "ok" } },
};
