import type { RouteDoc } from "../route-doc.ts";

export const getErrorPageDoc: RouteDoc = {
	id: "getErrorPage",
	summary: "What an error means",
	description: "A page of HTML: what happened, why it happens, what to do about it.",
	params: { code: "The `code` of an error." },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { code: "NO_ROUTE" }, response: "<!doctype html>" },
};
