import type { Route } from "../http/route.ts";

/** The process answers. It says nothing of what it depends on: restarting it would not mend that. */
export function getHealth(): Route {
	return { method: "GET", path: "/health", operation: undefined, handle: async () => ({ status: "ok" }) };
}
