import { SwapError } from "@geoswap/protocol";
import * as z from "zod";
import type { Route, RouteRequest } from "../http/route.ts";
import { createOpenapi } from "../openapi/create-openapi.ts";
import { interfaceVersion } from "../openapi/openapi-document.ts";
import { docsPage, errorPage, guidePage } from "../openapi/page/docs-page.ts";
import { figuresPlace } from "../openapi/page/figures-section.ts";
import { llmsFullText, llmsText, withServedLinks } from "../openapi/page/llms-text.ts";
import { type OwnExample, withOwnExamples } from "../openapi/page/own-examples.ts";
import { pageHeaders } from "../openapi/page/page-shell.ts";
import { guidePages, readDocsFiles } from "../openapi/page/read-docs-files.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/**
 * Returns the endpoints that describe the interface, both these routes and themselves. Everything is created here,
 * once.
 */
export function docsRoutes(
	routes: readonly Route[],
	{
		example,
		figures,
	}: {
		/** Undefined if the page shows the document's own examples. */
		example: OwnExample | undefined;
		/** Returns the part of the page that changes while the process runs. */
		figures: () => string;
	},
): Route[] {
	const files = readDocsFiles();
	const { guide, others, errors, skill } = files;
	const version = interfaceVersion;
	const errorPages = new Map<string, string>(
		[...errors].map(([code, markdown]) => [code, errorPage({ code, markdown, version })]),
	);
	const otherPages = new Map(
		[...others].map(([name, markdown]) => [name, guidePage({ name, markdown, version })]),
	);
	const ownMarkdown = new Map(
		[...others.set("api", guide)].map(([name, markdown]) => [name, withServedLinks(markdown)]),
	);
	const errorMarkdown = new Map<string, string>(
		[...errors].map(([code, markdown]) => [code, withServedLinks(markdown)]),
	);
	const [llms, llmsFull] = [llmsText(files), llmsFullText(files)];
	const own: Route[] = [
		pageRoute("/", { doc: getRootDoc, page: () => rootPage }),
		fileRoute("/openapi.json", { doc: getOpenapiDoc, contentType: "application/json", text: () => text }),
		pageRoute("/docs", { doc: getDocsDoc, page: () => page.replace(figuresPlace, figures) }),
		pageRoute("/docs/:page", { doc: getDocsPageDoc, page: (params) => expectPage(otherPages, params.page) }),
		pageRoute("/docs/errors/:code", {
			doc: getErrorPageDoc,
			page: (params) => expectPage(errorPages, params.code),
		}),
		fileRoute("/docs/:page.md", {
			doc: getDocsMarkdownDoc,
			contentType: "text/markdown",
			text: (params) => expectPage(ownMarkdown, params.page),
		}),
		fileRoute("/docs/errors/:code.md", {
			doc: getErrorMarkdownDoc,
			contentType: "text/markdown",
			text: (params) => expectPage(errorMarkdown, params.code),
		}),
		// The files that agents and their models read first.
		fileRoute("/SKILL.md", { doc: getSkillDoc, contentType: "text/markdown", text: () => skill }),
		fileRoute("/llms.txt", { doc: getLlmsDoc, contentType: "text/plain", text: () => llms }),
		fileRoute("/llms-full.txt", { doc: getLlmsFullDoc, contentType: "text/plain", text: () => llmsFull }),
	];
	const document = createOpenapi([...routes, ...own]);
	const text = `${JSON.stringify(document, null, "\t")}\n`;
	const described = docsPage(document, { guide });
	const page = example ? withOwnExamples(described, example) : described;
	return own;
}

/** Returns a route of an HTML page. */
function pageRoute(
	path: string,
	{ doc, page }: { doc: RouteDoc; page: (params: RouteRequest["params"]) => string },
): Route {
	return {
		method: "GET",
		path,
		operation: undefined,
		doc,
		contentType: "text/html; charset=utf-8",
		headers: pageHeaders,
		handle: async ({ params }) => page(params),
	};
}

/** Returns a route of a file for programs. */
function fileRoute(
	path: string,
	{
		doc,
		contentType,
		text,
	}: { doc: RouteDoc; contentType: string; text: (params: RouteRequest["params"]) => string },
): Route {
	return {
		method: "GET",
		path,
		operation: undefined,
		doc,
		contentType: `${contentType}; charset=utf-8`,
		headers: { "cache-control": "public, max-age=300" },
		handle: async ({ params }) => text(params),
	};
}

/** Returns the page of this name. Throws if there is none. */
function expectPage(pages: ReadonlyMap<string, string>, name: string | undefined): string {
	const page = pages.get(name ?? "");
	if (page === undefined) throw new SwapError("NOT_FOUND", undefined);
	return page;
}

const getSkillDoc: RouteDoc = {
	id: "getSkill",
	summary: "How to swap, as a skill for agents",
	description:
		"A file in the form of Agent Skills. Its commands, run one after the other, go from nothing to a settled swap.",
	response: { contentType: "text/markdown", description: "The skill." },
	errors: [],
	example: { response: "---\nname: geoswap\n" },
};

const getLlmsDoc: RouteDoc = {
	id: "getLlms",
	summary: "Contents of the docs, for models",
	description: "A list of the pages that this service serves, in the form of `llms.txt`.",
	response: { contentType: "text/plain", description: "The list." },
	errors: [],
	example: { response: "# Geoswap\n" },
};

const getLlmsFullDoc: RouteDoc = {
	id: "getLlmsFull",
	summary: "The docs in one file, for models",
	description: "The skill and all pages for writers of agents, as Markdown, without `conformance`.",
	response: { contentType: "text/plain", description: "The pages." },
	errors: [],
	example: { response: "Page: /SKILL.md\n" },
};

const getDocsDoc: RouteDoc = {
	id: "getDocs",
	summary: "This interface, for people",
	description: "An HTML page without scripts.",
	response: { contentType: "text/html", description: "The page." },
	errors: [],
	example: { response: "<!doctype html>" },
};

const getDocsPageDoc: RouteDoc = {
	id: "getDocsPage",
	summary: "More about this interface",
	description: `An HTML page of the docs. \`agents\` lists the ways to use this service; \`signing\` explains how to compute what a wallet signs, so that nobody signs blindly;
\`conformance\` lists every rule of this interface with the tests that prove it.`,
	params: { page: `One of ${guidePages.map((page) => `\`${page}\``).join(", ")}.` },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { page: "signing" }, response: "<!doctype html>" },
};

const getDocsMarkdownDoc: RouteDoc = {
	id: "getDocsMarkdown",
	summary: "A page of the docs, for models",
	description: "The same page as Markdown. `api` is this interface.",
	params: { page: `\`api\`, or one of ${guidePages.map((page) => `\`${page}\``).join(", ")}.` },
	response: { contentType: "text/markdown", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { page: "sdk" }, response: "# The SDK\n" },
};

const getErrorMarkdownDoc: RouteDoc = {
	id: "getErrorMarkdown",
	summary: "What an error means, for models",
	description: "The page of an error as Markdown.",
	params: { code: "The `code` of an error." },
	response: { contentType: "text/markdown", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { code: "NO_ROUTE" }, response: "# `NO_ROUTE`\n" },
};

const getErrorPageDoc: RouteDoc = {
	id: "getErrorPage",
	summary: "What an error means",
	description: "An HTML page: what happened, why it happens, and what to do.",
	params: { code: "The `code` of an error." },
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND"],
	example: { params: { code: "NO_ROUTE" }, response: "<!doctype html>" },
};

const getOpenapiDoc: RouteDoc = {
	id: "getOpenapi",
	summary: "This interface, for programs",
	description: "The OpenAPI 3.1 document, from which clients and tests can be generated.",
	response: z.looseObject({
		openapi: z.string().describe("The version of OpenAPI."),
		info: z
			.looseObject({
				title: z.string().describe("The interface's name."),
				version: z.string().describe("The interface's version."),
			})
			.describe("About the interface."),
		paths: z.looseObject({}).describe("Every endpoint, by path."),
	}),
	errors: [],
	example: {
		response: { openapi: "3.1.0", info: { title: "Geoswap", version: interfaceVersion }, paths: {} },
	},
};

/** A browser is redirected to the docs. A user of curl reads their address. */
const rootPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/docs">
<title>Geoswap</title>
<p>This is a Geoswap service. Its interface is described at <a href="/docs">/docs</a>, for a machine at <a href="/openapi.json">/openapi.json</a>, for an agent at <a href="/SKILL.md">/SKILL.md</a> and <a href="/llms.txt">/llms.txt</a>.</p>
</html>
`;

const getRootDoc: RouteDoc = {
	id: "getRoot",
	summary: "Redirect to the docs",
	description: "An HTML page that sends a browser to `/docs`.",
	response: { contentType: "text/html", description: "The page." },
	errors: [],
	example: { response: "<!doctype html>" },
};
