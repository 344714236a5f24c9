import { html } from "../../api/page/html.ts";

/** Returns a page with the reason why the requested one is not shown. */
export function errorPage(why: string) {
	return {
		kind: "plain" as const,
		title: "Geoswap console",
		body: html`<p role="alert">${why}</p><p><a href="/">To the overview</a></p>`,
	};
}
