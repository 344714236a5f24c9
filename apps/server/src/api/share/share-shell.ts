import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pageIcon } from "../openapi/page/page-shell.ts";
import { type Content, render } from "../page/html.ts";

/** Read once, because the process restarts with each version. */
const style = readAsset("share.css");
const script = readAsset("share.js");

/**
 * Headers of the page, which allow its own style and script and requests to this service, and nothing else. The
 * address is a secret, so the headers keep it from the explorers that the page links to, from search engines and from
 * caches.
 */
export const shareHeaders: Record<string, string> = {
	"content-security-policy": `default-src 'none'; style-src 'sha256-${hashOf(style)}'; script-src 'sha256-${hashOf(script)}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
	"x-content-type-options": "nosniff",
	"referrer-policy": "no-referrer",
	"x-robots-tag": "noindex, nofollow",
	"cross-origin-opener-policy": "same-origin",
	"cross-origin-resource-policy": "same-origin",
	"cache-control": "no-store",
	vary: "accept",
};

/** Seconds after which a browser without scripts reads the page again. */
const plainRefreshSeconds = 20;

/** Returns a whole page. If it is live, it is reloaded when the swap changes. */
export function shareShell({
	title,
	main,
	livePath,
}: {
	title: string;
	main: Content;
	/** The path of the page, if it can still change. */
	livePath?: string | undefined;
}): string {
	const refresh = livePath
		? `<noscript><meta http-equiv="refresh" content="${plainRefreshSeconds}"></noscript>`
		: "";
	const live = livePath ? ` data-live="${render(livePath)}"` : "";
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
${refresh}<title>${render(title)}</title>
<link rel="icon" href="${pageIcon}">
<style>${style}</style>
</head>
<body>
<main${live}>${render(main)}</main>
<p id="said" class="hidden" role="status"></p>
<script>${script}</script>
</body>
</html>
`;
}

function readAsset(name: string): string {
	return readFileSync(join(import.meta.dirname, "asset", name), "utf8");
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("base64");
}
