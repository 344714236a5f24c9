import type { Route } from "../http/route.ts";
import { createOpenapi } from "../openapi/create-openapi.ts";
import { interfaceVersion } from "../openapi/interface-version.ts";
import { docsPage, errorPage } from "../openapi/page/docs-page.ts";
import { readDocsFiles } from "../openapi/page/read-docs-files.ts";
import { getDocs } from "./get-docs.ts";
import { getErrorPage } from "./get-error-page.ts";
import { getOpenapi } from "./get-openapi.ts";

/** The endpoints that describe the interface: these routes, and themselves. All is made here, once. */
export function docsRoutes(routes: readonly Route[]): Route[] {
	const { guide, errors } = readDocsFiles();
	const pages = [...errors].map(
		([code, markdown]) => [code, errorPage({ code, markdown, version: interfaceVersion })] as const,
	);
	const own: Route[] = [
		getOpenapi({ text: () => text }),
		getDocs({ page: () => page }),
		getErrorPage({ pages: new Map(pages) }),
	];
	const document = createOpenapi([...routes, ...own]);
	const text = `${JSON.stringify(document, null, "\t")}\n`;
	const page = docsPage(document, { guide });
	return own;
}
