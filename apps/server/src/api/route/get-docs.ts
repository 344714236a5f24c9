import type { Route } from "../http/route.ts";
import { getDocsDoc } from "../openapi/endpoints/get-docs.ts";
import { pageHeaders } from "../openapi/page/page-shell.ts";

/** GET /docs. */
export function getDocs({ page }: { page: () => string }): Route {
	return {
		method: "GET",
		path: "/docs",
		operation: undefined,
		doc: getDocsDoc,
		contentType: "text/html; charset=utf-8",
		headers: pageHeaders,
		handle: async () => page(),
	};
}
