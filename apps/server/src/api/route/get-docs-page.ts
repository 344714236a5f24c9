import { SwapError } from "@geoswap/protocol";
import type { Route } from "../http/route.ts";
import { getDocsPageDoc } from "../openapi/endpoints/get-docs-page.ts";
import { pageHeaders } from "../openapi/page/page-shell.ts";

/** GET /docs/{page}: the pages that the guide links to. */
export function getDocsPage({ pages }: { pages: ReadonlyMap<string, string> }): Route {
	return {
		method: "GET",
		path: "/docs/:page",
		operation: undefined,
		doc: getDocsPageDoc,
		contentType: "text/html; charset=utf-8",
		headers: pageHeaders,
		async handle({ params }) {
			const page = pages.get(params.page ?? "");
			if (page === undefined) throw new SwapError("NOT_FOUND", undefined);
			return page;
		},
	};
}
