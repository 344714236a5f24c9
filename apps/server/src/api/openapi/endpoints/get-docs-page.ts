import type { RouteDoc } from "../route-doc.ts";

export const getDocsPageDoc: RouteDoc = {
	id: "getDocsPage",
	summary: "More about this interface",
	description: `An HTML page. \`signing\` explains how to compute what a wallet signs, so that nobody signs blindly;
\`conformance\` lists every rule of this interface with the tests that prove it.`,
	params: { page: "`signing` or `conformance`." },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { page: "signing" }, response: "<!doctype html>" },
};
