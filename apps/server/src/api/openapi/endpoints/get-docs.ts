import type { RouteDoc } from "../route-doc.ts";

export const getDocsDoc: RouteDoc = {
	id: "getDocs",
	summary: "This interface, for people",
	description: "An HTML page without scripts.",
	response: { contentType: "text/html", description: "The page." },
	errors: [],
	example: { response: "<!doctype html>" },
};
