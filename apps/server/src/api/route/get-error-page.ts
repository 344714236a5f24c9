import { SwapError } from "@geoswap/protocol";
import type { Route } from "../http/route.ts";
import { getErrorPageDoc } from "../openapi/endpoints/get-error-page.ts";
import { pageHeaders } from "../openapi/page/page-shell.ts";

/** GET /docs/errors/{code}. */
export function getErrorPage({ pages }: { pages: ReadonlyMap<string, string> }): Route {
	return {
		method: "GET",
		path: "/docs/errors/:code",
		operation: undefined,
		doc: getErrorPageDoc,
		contentType: "text/html; charset=utf-8",
		headers: pageHeaders,
		async handle({ params }) {
			const page = pages.get(params.code ?? "");
			if (page === undefined) throw new SwapError("NOT_FOUND", undefined);
			return page;
		},
	};
}
