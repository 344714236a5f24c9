import type { ErrorBody } from "@geoswap/protocol";
import { html } from "../page/html.ts";
import { shareShell } from "./share-shell.ts";

/** Returns the page for a link that shows nothing, or nothing at this moment. */
export function shareErrorPage({ code, message, requestId }: ErrorBody): string {
	const isGone = code === "NOT_FOUND";
	const headline = isGone ? "Nothing to see here" : "Not now";
	const main = html`<header class="top">Geoswap</header>
		<section class="card back" aria-labelledby="headline">
			<h1 id="headline">${headline}</h1>
			<p>${isGone ? message : "The page could not be made at this moment. Nothing happened to the money. Open it again in a minute."}</p>
			${isGone ? null : html`<p class="quiet">If it persists, tell the operator: <code>${requestId}</code></p>`}
		</section>`;
	return shareShell({ title: `${headline} · Geoswap`, main });
}
