import type { Route } from "../http/route.ts";
import { getRootDoc } from "../openapi/endpoints/get-root.ts";
import { pageHeaders } from "../openapi/page/page-shell.ts";

/** A browser is redirected to the docs; a person with curl reads where they are. */
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/docs">
<title>Geoswap</title>
<p>This is a Geoswap service. Its interface is described at <a href="/docs">/docs</a>, for a machine at <a href="/openapi.json">/openapi.json</a>, for an agent at <a href="/SKILL.md">/SKILL.md</a> and <a href="/llms.txt">/llms.txt</a>.</p>
</html>
`;

/** GET /. */
export function getRoot(): Route {
	return {
		method: "GET",
		path: "/",
		operation: undefined,
		doc: getRootDoc,
		contentType: "text/html; charset=utf-8",
		headers: pageHeaders,
		handle: async () => page,
	};
}
