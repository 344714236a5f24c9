import type { RouteDoc } from "../route-doc.ts";

export const getRootDoc: RouteDoc = {
	id: "getRoot",
	summary: "Redirect to the docs",
	description: "An HTML page that sends a browser to `/docs`.",
	response: { contentType: "text/html", description: "The page." },
	errors: [],
	example: { response: "<!doctype html>" },
};
