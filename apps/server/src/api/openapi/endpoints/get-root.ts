import type { RouteDoc } from "../route-doc.ts";

export const getRootDoc: RouteDoc = {
	id: "getRoot",
	summary: "The way to the docs",
	description: "A page of HTML that leads a browser to `/docs`.",
	response: { contentType: "text/html", description: "The page." },
	errors: [],
	example: { response: "<!doctype html>" },
};
