import type { Milliseconds } from "@geoswap/protocol";
import { ago, moment } from "../../api/page/format.ts";
import { html } from "../../api/page/html.ts";
import type { ConsoleLogEntry } from "../login/console-log.ts";
import type { Page } from "../route/console-route.ts";
import { pill, section, type Tone, table } from "./parts.ts";

const toneOf: Record<string, Tone> = {
	"login-refused": "bad",
	paused: "warn",
	lifted: "good",
	"operator-removed": "warn",
};

/** Returns the page of what operators did with the console. */
export function logPage(
	entries: readonly ConsoleLogEntry[],
	{ next, nowMs }: { next: number | undefined; nowMs: Milliseconds },
): Page {
	const body = html`
		<h1>Log</h1>
		<p class="subtitle">Logins, refused logins, invitations and actions. Rows can be added only, never changed or deleted.</p>
		${section(
			{ id: "log", title: "Newest first" },
			table({
				label: "Log",
				columns: [
					{ title: "Time, UTC" },
					{ title: "Ago" },
					{ title: "Who" },
					{ title: "What" },
					{ title: "Detail" },
					{ title: "From" },
				],
				rows: entries.map(({ at, actor, databaseUser, action, detail, address }) => [
					moment(at),
					html`<span class="quiet">${ago(at, nowMs)}</span>`,
					actor ?? html`<span class="quiet">nobody</span>`,
					pill(action, toneOf[action] ?? "quiet"),
					detail,
					address ?? html`<span class="quiet">command, as ${databaseUser}</span>`,
				]),
				none: "Nothing was done yet.",
			}),
			next === undefined
				? null
				: html`<nav class="pages" aria-label="Pages of the log"><a href=${`/log?before=${next}`} rel="next">Next page</a></nav>`,
		)}`;
	return { title: "Log · Geoswap console", menu: "/log", body };
}
