import { errorCatalogue, errorCodes } from "@geoswap/protocol";
import type { OpenapiDocument, Operation } from "../openapi-document.ts";
import { endpointSection } from "./endpoint-section.ts";
import { escapeHtml } from "./escape-html.ts";
import { figuresPlace } from "./figures-section.ts";
import { pageShell } from "./page-shell.ts";
import { renderMarkdown, sectionsOf } from "./render-markdown.ts";

/** Returns the whole interface on one page: the guide, each endpoint, each error. */
export function docsPage(document: OpenapiDocument, { guide }: { guide: string }): string {
	const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
	);
	const groups = document.tags.map((tag) => ({
		...tag,
		endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
	}));
	const menu = [
		menuGroup(
			"Guide",
			sectionsOf(guide).map(({ id, title }) => `<a href="#${id}">${escapeHtml(title)}</a>`),
		),
		...groups.map(({ name, endpoints: ofGroup }) =>
			menuGroup(
				name,
				ofGroup.map(
					({ method, operation }) =>
						`<a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span>${escapeHtml(operation.summary)}</a>`,
				),
			),
		),
		menuGroup("Figures", ['<a href="#figures">How swaps went lately</a>']),
		menuGroup("Errors", ['<a href="#errors">All errors</a>']),
	].join("");
	const reference = groups.map(
		({ name, description, endpoints: ofGroup }) =>
			`<h2 id="${name.toLowerCase()}-endpoints">${escapeHtml(name)}</h2><p class="lead">${escapeHtml(description)}</p>
${ofGroup.map((endpoint) => endpointSection(endpoint, document)).join("\n")}`,
	);
	return pageShell({
		title: "Geoswap API",
		menu,
		version: document.info.version,
		content: `<article class="guide">${withLinks(renderMarkdown(guide), endpoints)}</article>
${reference.join("\n")}
${figuresPlace}
<h2 id="errors">Errors</h2>
<p class="lead">Every error has the same body. Branch on <code>code</code> or <code>next</code>; <code>retryable</code> says that the same bytes may succeed later.</p>
${errorTable()}`,
	});
}

/** Links each endpoint that the guide names to its section. */
function withLinks(
	html: string,
	endpoints: { path: string; method: string; operation: Operation }[],
): string {
	return endpoints.reduce((linked, { path, method, operation }) => {
		const name = `<code>${method.toUpperCase()} ${escapeHtml(path)}</code>`;
		return linked.replaceAll(name, `<a href="#${operation.operationId}">${name}</a>`);
	}, html);
}

export function errorPage({
	code,
	markdown,
	version,
}: {
	code: string;
	markdown: string;
	version: string;
}): string {
	const menu = menuGroup("Errors", [
		'<a href="/docs">Interface</a>',
		...errorCodes.map(
			(other) =>
				`<a href="/docs/errors/${other}"${other === code ? ' aria-current="page"' : ""}><code>${other}</code></a>`,
		),
	]);
	return pageShell({
		title: `${code} · Geoswap API`,
		menu,
		version,
		content: `<article class="guide short">${renderMarkdown(markdown)}</article>`,
	});
}

/** Returns a page that the guide links to. */
export function guidePage({
	name,
	markdown,
	version,
}: {
	name: string;
	markdown: string;
	version: string;
}): string {
	return pageShell({
		title: `${name} · Geoswap API`,
		menu: [
			menuGroup("Docs", ['<a href="/docs">Interface</a>']),
			menuGroup(
				"This page",
				sectionsOf(markdown).map(({ id, title }) => `<a href="#${id}">${escapeHtml(title)}</a>`),
			),
		].join(""),
		version,
		content: `<article class="guide short">${renderMarkdown(markdown)}</article>`,
	});
}

function menuGroup(title: string, links: string[]): string {
	return `<p>${escapeHtml(title)}</p><ul>${links.map((link) => `<li>${link}</li>`).join("")}</ul>`;
}

function errorTable(): string {
	const rows = errorCodes.map((code) => {
		const { http, next, message } = errorCatalogue[code];
		return `<tr><td>${http}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td><code>${next}</code></td><td>${escapeHtml(message)}</td></tr>`;
	});
	return `<div class="scroll" tabindex="0"><table class="errors all"><thead><tr><th>HTTP</th><th>Code</th><th>Next</th><th>What happened and what to do</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}
