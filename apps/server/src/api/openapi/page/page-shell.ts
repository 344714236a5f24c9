import { createHash } from "node:crypto";
import { escapeHtml } from "./escape-html.ts";

/** One style for all pages, light or dark according to the reader's system. */
const pageStyle = `
:root {
	--paper: #ffffff; --ink: #1b2129; --quiet: #5b6673; --line: #e3e7ec; --shade: #f5f7f9; --accent: #0b7362; --mark: #e2f3ef;
	--key: #0b5f8a; --text: #8a4b08; --value: #7a3a9a; --get: #0b5f8a; --post: #0b7362;
	--sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
	--mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
	:root {
		--paper: #0f1317; --ink: #dfe4ea; --quiet: #97a2ae; --line: #262e37; --shade: #161c22; --accent: #5bd0b6; --mark: #12312b;
		--key: #7cc4ef; --text: #e5b374; --value: #cfa3ea; --get: #7cc4ef; --post: #5bd0b6;
	}
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 var(--sans); overflow-wrap: break-word; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem 1rem; z-index: 3; }

.side { position: fixed; inset: 0 auto 0 0; width: 17rem; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.5rem; border-right: 1px solid var(--line); background: var(--shade); }
.name { font-weight: 650; font-size: 1.05rem; color: var(--ink); letter-spacing: -.01em; }
.name:hover { text-decoration: none; color: var(--accent); }
.name span { font-weight: 400; color: var(--quiet); font-size: .85rem; }
nav p { margin: 1.5rem 0 .35rem; font-size: .72rem; font-weight: 650; letter-spacing: .07em; text-transform: uppercase; color: var(--quiet); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; align-items: baseline; gap: .5rem; padding: .22rem .5rem; margin-left: -.5rem; border-radius: 5px; color: var(--ink); font-size: .88rem; line-height: 1.4; }
nav li a:hover, nav [aria-current] { background: var(--mark); text-decoration: none; }
nav li code { font-size: .74rem; background: none; border: 0; padding: 0; }
.top { display: none; }
main { margin-left: 17rem; padding: 2.5rem 3rem 8rem; max-width: 90rem; }

h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -.015em; font-weight: 650; text-wrap: balance; }
h1 { font-size: 2.1rem; margin: 0 0 1rem; }
h1 code { font-size: .9em; background: none; border: 0; padding: 0; }
h2 { font-size: 1.5rem; margin: 3.25rem 0 .75rem; padding-top: 2.25rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
h4 { font-size: .92rem; margin: 1.75rem 0 .5rem; }
p, ul, ol { margin: 0 0 1rem; }
li { margin: .2rem 0; }
.lead { color: var(--quiet); }
.guide { max-width: 52rem; }
.guide h2:first-of-type { margin-top: 2.25rem; }
.short h2 { font-size: 1.15rem; margin: 2.25rem 0 .6rem; padding: 0; border: 0; }
blockquote { margin: 0 0 1.5rem; padding: .1rem 0 .1rem 1rem; border-left: 3px solid var(--accent); font-size: 1.05rem; }
blockquote p { margin: 0; }

code, pre { font-family: var(--mono); }
code { font-size: .86em; background: var(--shade); border: 1px solid var(--line); border-radius: 4px; padding: .08em .32em; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
a code { color: inherit; }
pre { margin: 0 0 1.25rem; padding: .9rem 1.1rem; background: var(--shade); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; font-size: .8rem; line-height: 1.55; tab-size: 2; }
pre code { font-size: inherit; background: none; border: 0; padding: 0; overflow-wrap: normal; }
pre b { font-weight: 400; }
.k { color: var(--key); } .s { color: var(--text); } .v { color: var(--value); }

.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; line-height: 1.5; }
th { text-align: left; font-weight: 600; font-size: .78rem; color: var(--quiet); padding: .4rem 1rem .4rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { vertical-align: top; padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
.fields td:nth-child(-n+3), .errors td:nth-child(-n+3) { white-space: nowrap; }
.fields td:nth-child(2), .fields td:nth-child(3) { color: var(--quiet); font-size: .82rem; }
.fields td, .fields th { padding-right: .75rem; }
.fields td:last-child { min-width: 11rem; }
.fields td:nth-child(3) .required { color: var(--accent); font-weight: 600; }
details { margin: 0 0 .6rem; border: 1px solid var(--line); border-radius: 8px; padding: .5rem .9rem; }
details[open] > summary { margin-bottom: .5rem; }
summary { cursor: pointer; font-size: .86rem; color: var(--quiet); }
summary:hover { color: var(--ink); }

.endpoint { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 28rem); gap: 0 2.5rem; padding: 2rem 0 2.5rem; border-bottom: 1px solid var(--line); }
.endpoint:last-of-type { border-bottom: 0; }
.endpoint h3 { margin-top: 0; font-size: 1.3rem; }
.show { position: sticky; top: 1.5rem; align-self: start; }
.show h4:first-child { margin-top: .2rem; }
.show pre { max-height: 24rem; overflow-y: auto; }
.path { margin-bottom: 1.1rem; }
.path code { font-size: .92rem; background: none; border: 0; padding: 0 .2rem; }
.method { font: 650 .68rem/1 var(--mono); letter-spacing: .03em; color: var(--get); }
.method.post { color: var(--post); }
.path .method { border: 1px solid currentColor; border-radius: 4px; padding: .2rem .4rem; vertical-align: .08em; }
nav .method { flex: 0 0 2.2rem; font-size: .62rem; }

@media (max-width: 78rem) {
	.endpoint { grid-template-columns: minmax(0, 1fr); }
	.show { position: static; }
}
@media (max-width: 54rem) {
	.side { display: none; }
	.top { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .5rem 1rem; padding: .75rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--shade); }
	.top details { border: 0; padding: 0; margin: 0; }
	.top details[open] { flex-basis: 100%; }
	.top nav { columns: 14rem; }
	.top nav ul { break-inside: avoid; }
	main { margin-left: 0; padding: 1.5rem 1.25rem 5rem; }
	h1 { font-size: 1.7rem; }
	h2 { font-size: 1.35rem; margin-top: 2.5rem; padding-top: 1.75rem; }
	.endpoint { padding: 1.5rem 0; }
}
@media (max-width: 40rem) {
	td:not(:first-child) code { overflow-wrap: anywhere; }
	.fields, .fields tbody, .all, .all tbody { display: block; }
	.fields thead, .all thead { display: none; }
	.fields tr, .all tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .7rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
	.fields td, .all td { display: block; border: 0; padding: 0; }
	.fields td:last-child, .all td:last-child { flex: 1 0 100%; min-width: 0; }
	.fields td:last-child:empty { display: none; }
}
@media print { .side, .top { display: none; } main { margin: 0; } }
`;

const styleHash = createHash("sha256").update(pageStyle).digest("base64");
/** The icon of all pages of the API. */
export const pageIcon =
	"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 5h9M8 2l3 3-3 3M14 11H5m3-3-3 3 3 3' fill='none' stroke='%230d8570' stroke-width='1.8' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E";

/** Headers that allow loading nothing but this page's own style, and running nothing. */
export const pageHeaders: Record<string, string> = {
	"content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
	"x-content-type-options": "nosniff",
	"referrer-policy": "no-referrer",
	"cache-control": "public, max-age=300",
};

/** Returns a whole page around its content, with a menu beside it, or folded above it if there is no room. */
export function pageShell({
	title,
	menu,
	version,
	content,
}: {
	title: string;
	menu: string;
	version: string;
	content: string;
}): string {
	const name = `<a class="name" href="/docs">Geoswap <span>API ${escapeHtml(version)}</span></a>`;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${pageIcon}">
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<nav class="side" aria-label="Contents">${name}${menu}</nav>
<header class="top">${name}<details><summary>Contents</summary><nav aria-label="Contents, folded">${menu}</nav></details></header>
<main id="content">
${content}
</main>
</body>
</html>
`;
}
