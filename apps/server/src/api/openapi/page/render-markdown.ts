import { Marked, type Tokens } from "marked";
import { escapeHtml } from "./escape-html.ts";
import { guidePages } from "./read-docs-files.ts";

/**
 * Renders a page's markdown as HTML. Links between files of docs/ become links between served pages, other links
 * become text.
 */
export function renderMarkdown(markdown: string): string {
	return marked.parse(markdown, { async: false });
}

/** Returns the sections of a page, for its menu. */
export function sectionsOf(markdown: string): { id: string; title: string }[] {
	return [...markdown.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => ({ id: slug(title), title }));
}

const marked = new Marked({
	renderer: {
		heading({ tokens, depth, text }: Tokens.Heading): string {
			const html = this.parser.parseInline(tokens);
			return depth === 1 ? `<h1>${html}</h1>` : `<h${depth} id="${slug(text)}">${html}</h${depth}>`;
		},
		link({ href, tokens }: Tokens.Link): string {
			const html = this.parser.parseInline(tokens);
			const served = servedAt(href);
			return served === undefined ? html : `<a href="${escapeHtml(served)}">${html}</a>`;
		},
		code({ text, lang }: Tokens.Code): string {
			return codeBlock(lang === "json" ? colorJson(text) : escapeHtml(text));
		},
		table(token: Tokens.Table): string {
			const row = (cells: Tokens.TableCell[], tag: "th" | "td") =>
				`<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
			const body = token.rows.map((cells) => row(cells, "td")).join("");
			return `<div class="scroll" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>`;
		},
	},
});

/** Returns where the target of a link in docs/ or docs/errors/ is served. */
export function servedAt(href: string): string | undefined {
	if (href.startsWith("#")) return href;
	const [, path = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
	const name = path.replace(/^(\.\/|\.\.\/)+/, "");
	if (name === "openapi.json") return "/openapi.json";
	if (name === "api.md") return `/docs${anchor}`;
	if (name === "errors" || name === "errors/README.md" || name === "README.md") return "/docs#errors";
	const page = guidePages.find((candidate) => name === `${candidate}.md`);
	if (page !== undefined) return `/docs/${page}${anchor}`;
	const [, code] = /^(?:errors\/)?([A-Z_]+)\.md$/.exec(name) ?? [];
	return code === undefined ? undefined : `/docs/errors/${code}`;
}

/** Returns the address at which the page of an address is served as Markdown. Other addresses stay as they are. */
export function markdownAt(address: string): string {
	const [path = "", anchor] = address.split("#");
	if (path !== "/docs" && !path.startsWith("/docs/")) return address;
	const file = path === "/docs" ? "/docs/api.md" : `${path}.md`;
	return anchor === undefined ? file : `${file}#${anchor}`;
}

function slug(title: string): string {
	return title
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "");
}

/** Longer texts are bytes, which need not be shown completely. */
const longestText = 80;
const shownText = 64;

/** Returns a value as a block of code, with long texts shortened. */
export function jsonCode(value: unknown): string {
	return codeBlock(colorJson(readableJson(value)));
}

/** Returns JSON for human readers, with long texts cut. */
function readableJson(value: unknown): string {
	return JSON.stringify(
		value,
		(_, part: unknown) =>
			typeof part === "string" && part.length > longestText ? `${part.slice(0, shownText)}…` : part,
		2,
	);
}

/** Returns a block of code that can also be scrolled with the keyboard. */
export function codeBlock(html: string): string {
	return `<pre tabindex="0"><code>${html}</code></pre>`;
}

/** Colors names, texts and other values differently. */
function colorJson(text: string): string {
	return escapeHtml(text).replace(
		/(&quot;(?:(?!&quot;)[^\n])*?&quot;)(\s*:)?|(?<![\w.])(true|false|null|-?\d+(?:\.\d+)?)\b/g,
		(whole, string: string | undefined, colon: string | undefined) => {
			if (string === undefined) return `<b class="v">${whole}</b>`;
			return colon === undefined ? `<b class="s">${string}</b>` : `<b class="k">${string}</b>${colon}`;
		},
	);
}
