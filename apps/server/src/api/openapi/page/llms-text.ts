import type { readDocsFiles } from "./read-docs-files.ts";
import { markdownAt, servedAt } from "./render-markdown.ts";

type DocsFiles = ReturnType<typeof readDocsFiles>;

/** Returns the text of GET /llms.txt, which describes the service and lists the pages for authors of agents. */
export function llmsText({ guide, contents, skill }: DocsFiles): string {
	const [, summary = ""] = /^# .+\n\n([\s\S]+?)\n\n/.exec(guide) ?? [];
	const [, whenToUse = ""] = /^description: (.+)$/m.exec(skill) ?? [];
	const pages = pagesForAgents(contents);
	const listed = ({ address, why }: { address: string; why: string }) =>
		`- [${address}](${markdownAt(address)}): ${why}`;
	return `# Geoswap

> ${summary.replaceAll("\n", " ")}

## Start here

- [SKILL.md](/SKILL.md): ${whenToUse}
- [llms-full.txt](/llms-full.txt): the skill and all pages below in one file, without the optional ones
- [openapi.json](/openapi.json): every endpoint, for programs

## Pages

${pages
	.filter(({ address }) => !isOptional(address))
	.map(listed)
	.join("\n")}

## Optional

${pages
	.filter(({ address }) => isOptional(address))
	.map(listed)
	.join("\n")}
`;
}

/** Returns the text of GET /llms-full.txt: the skill, the pages that GET /llms.txt lists, and every error's page. */
export function llmsFullText({ guide, others, errors, contents, skill }: DocsFiles): string {
	const pages = pagesForAgents(contents).flatMap(({ address }) => {
		const markdown = address === "/docs" ? guide : others.get(address.replace("/docs/", ""));
		return markdown === undefined || isOptional(address) ? [] : [{ address, markdown }];
	});
	const ofErrors = [...errors].map(([code, markdown]) => ({ address: `/docs/errors/${code}`, markdown }));
	return [{ address: "/SKILL.md", markdown: skill }, ...pages, ...ofErrors]
		.map(({ address, markdown }) => `Page: ${markdownAt(address)}\n\n${withServedLinks(markdown)}`)
		.join("\n");
}

/**
 * Returns true for the page that lists every rule with its tests, which is long and of use only to check the service.
 */
function isOptional(address: string): boolean {
	return address === "/docs/conformance";
}

/** Returns the rows of the first table of docs/README.md that name pages which are served. */
function pagesForAgents(contents: string): { address: string; why: string }[] {
	const [, table = ""] = contents.split(/^## /m).slice(0, 2);
	return [...table.matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \| (.+) \|$/gm)].flatMap(
		([, target = "", why = ""]) => {
			const address = target.startsWith("../") ? undefined : servedAt(target);
			return address === undefined ? [] : [{ address, why: withServedLinks(why) }];
		},
	);
}

/**
 * Replaces links to files of docs/ by links to the Markdown that is served, and by plain text if a file is not served.
 */
export function withServedLinks(markdown: string): string {
	return markdown.replaceAll(/\[([^\]]+)\]\((?!https?:)([^)\s]+)\)/g, (_, text: string, target: string) => {
		const served = servedAt(target);
		return served === undefined ? text : `[${text}](${markdownAt(served)})`;
	});
}
