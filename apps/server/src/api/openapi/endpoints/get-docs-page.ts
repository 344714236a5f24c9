import { guidePages } from "../page/read-docs-files.ts";
import type { RouteDoc } from "../route-doc.ts";

export const getDocsPageDoc: RouteDoc = {
	id: "getDocsPage",
	summary: "More about this interface",
	description: `An HTML page of the docs. \`agents\` lists the ways to use this service; \`signing\` explains how to compute what a wallet signs, so that nobody signs blindly;
\`conformance\` lists every rule of this interface with the tests that prove it.`,
	params: { page: `One of ${guidePages.map((page) => `\`${page}\``).join(", ")}.` },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { page: "signing" }, response: "<!doctype html>" },
};
