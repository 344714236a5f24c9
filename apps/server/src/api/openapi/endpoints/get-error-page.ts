import type { RouteDoc } from "../route-doc.ts";

export const getErrorPageDoc: RouteDoc = {
	id: "getErrorPage",
	summary: "What an error means",
	description: "An HTML page: what happened, why it happens, and what to do.",
	params: { code: "The `code` of an error." },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { code: "NO_ROUTE" }, response: "<!doctype html>" },
};
