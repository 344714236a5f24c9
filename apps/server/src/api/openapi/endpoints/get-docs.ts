import type { RouteDoc } from "../route-doc.ts";

export const getDocsDoc: RouteDoc = {
	id: "getDocs",
	summary: "This interface, for a person",
	description: "A page of HTML, without scripts.",
	response: { contentType: "text/html", description: "The page." },
	errors: [],
	example: { response: "<!doctype html>" },
};
