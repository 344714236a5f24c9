import type { Route } from "../http/route.ts";
import { getOpenapiDoc } from "../openapi/endpoints/get-openapi.ts";

/** GET /openapi.json. */
export function getOpenapi({ text }: { text: () => string }): Route {
	return {
		method: "GET",
		path: "/openapi.json",
		operation: undefined,
		doc: getOpenapiDoc,
		contentType: "application/json; charset=utf-8",
		headers: { "cache-control": "public, max-age=300" },
		handle: async () => text(),
	};
}
