import type { RouteDoc } from "../route-doc.ts";

export const getDocsPageDoc: RouteDoc = {
	id: "getDocsPage",
	summary: "More about this interface",
	description: `A page of HTML: \`signing\` says how hashes and transactions are made, so that nobody signs blind;
\`conformance\` has every rule of this interface with the tests that show it.`,
	params: { page: "`signing` or `conformance`." },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { page: "signing" }, response: "<!doctype html>" },
};
