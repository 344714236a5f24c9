import { type Content, html, render } from "../../api/page/html.ts";
import { assetUrl } from "../asset/read-assets.ts";
import type { MenuEntry, Page } from "../route/console-route.ts";

/** The parts of a page that depend on the operator who is logged in. */
export type PageFrame = { operator: string; formToken: string };

const menu: [MenuEntry, string][] = [
	["/", "Overview"],
	["/swaps", "Swaps"],
	["/inventory", "Inventory"],
	["/treasury", "Treasury"],
	["/chains", "Chains"],
	["/profit", "Profit"],
	["/books", "Books"],
	["/keys", "Keys"],
	["/log", "Log"],
];

/** Returns a page with menu and search box. */
export function renderPage(page: Page, { operator, formToken }: PageFrame): string {
	const body = html`<body>
		<a class="skip" href="#main">Skip to the content</a>
		<header class="side">
			<a class="name" href="/">Geoswap <span>console</span></a>
			<nav aria-label="Pages"><ul>${menu.map(
				([path, text]) =>
					html`<li><a href=${path} aria-current=${path === page.menu ? "page" : undefined}>${text}</a></li>`,
			)}</ul></nav>
			<form class="who" method="post" action="/logout">
				<input type="hidden" name="token" value=${formToken} />
				<span>${operator}</span> <button class="link" type="submit">Log out</button>
			</form>
		</header>
		<div class="page">
			<form class="find" role="search" action="/swaps">
				<label for="find">Find a swap</label>
				<input id="find" name="q" type="search" value=${page.search ?? ""} autocomplete="off" spellcheck="false"
					placeholder="Swap, order, transaction, wallet, recipient, API key or account" />
				<button type="submit">Find</button>
			</form>
			<main id="main" tabindex="-1">${page.body}</main>
		</div>
		<script src=${assetUrl("refresh.js")} defer></script>
	</body>`;
	return documentOf(page.title, body);
}

/** Returns a page without menu, for visitors who are not logged in. */
export function renderPlain({
	title,
	body,
	scripts = [],
}: {
	title: string;
	body: Content;
	scripts?: readonly string[];
}): string {
	return documentOf(
		title,
		html`<body class="plain">
			<main id="main"><p class="name">Geoswap <span>console</span></p>${body}</main>
			${scripts.map((name) => html`<script src=${assetUrl(name)} defer></script>`)}
		</body>`,
	);
}

function documentOf(title: string, body: Content): string {
	const head = html`<head>
		<meta charset="utf-8" />
		<meta name="viewport" content="width=device-width, initial-scale=1" />
		<meta name="color-scheme" content="light dark" />
		<title>${title}</title>
		<link rel="icon" href=${assetUrl("icon.svg")} />
		<link rel="stylesheet" href=${assetUrl("console.css")} />
	</head>`;
	return `<!doctype html>${render(html`<html lang="en">${head}${body}</html>`)}`;
}

/** Returns a page with the reason why the requested one is not shown. */
export function errorPage(why: string) {
	return {
		kind: "plain" as const,
		title: "Geoswap console",
		body: html`<p role="alert">${why}</p><p><a href="/">To the overview</a></p>`,
	};
}
