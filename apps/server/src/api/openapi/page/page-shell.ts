import { createHash } from "node:crypto";
import { escapeHtml } from "./escape-html.ts";
import { pageStyle } from "./page-style.ts";

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
