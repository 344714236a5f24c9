import type { Route } from "../http/route.ts";
import { createOpenapi } from "../openapi/create-openapi.ts";
import { interfaceVersion } from "../openapi/interface-version.ts";
import { docsPage, errorPage, guidePage } from "../openapi/page/docs-page.ts";
import { figuresPlace } from "../openapi/page/figures-section.ts";
import { llmsFullText, llmsText } from "../openapi/page/llms-text.ts";
import { type OwnExample, withOwnExamples } from "../openapi/page/own-examples.ts";
import { readDocsFiles } from "../openapi/page/read-docs-files.ts";
import { getAgentFiles } from "./get-agent-files.ts";
import { getDocs } from "./get-docs.ts";
import { getDocsPage } from "./get-docs-page.ts";
import { getErrorPage } from "./get-error-page.ts";
import { getOpenapi } from "./get-openapi.ts";
import { getRoot } from "./get-root.ts";

/** Returns the endpoints that describe the interface: these routes, and themselves. All is created here, once. */
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
	const pages = [...errors].map(
		([code, markdown]) => [code, errorPage({ code, markdown, version })] as const,
	);
	const guidePages = [...others].map(
		([name, markdown]) => [name, guidePage({ name, markdown, version })] as const,
	);
	const own: Route[] = [
		getRoot(),
		getOpenapi({ text: () => text }),
		getDocs({ page: () => page.replace(figuresPlace, figures) }),
		getDocsPage({ pages: new Map(guidePages) }),
		getErrorPage({ pages: new Map(pages) }),
		...getAgentFiles({ skill, llms: llmsText(files), llmsFull: llmsFullText(files) }),
	];
	const document = createOpenapi([...routes, ...own]);
	const text = `${JSON.stringify(document, null, "\t")}\n`;
	const described = docsPage(document, { guide });
	const page = example ? withOwnExamples(described, example) : described;
	return own;
}
