import type { StatsResponse } from "@geoswap/protocol";
import { escapeHtml } from "./escape-html.ts";

/** The place in the page where the figures go. */
export const figuresPlace = "<!-- figures -->";

/** Returns the figures of `GET /stats` as a table, with the chains' names. */
export function figuresSection(
	stats: StatsResponse | undefined,
	{ nameOf }: { nameOf: (chainId: number) => string },
): string {
	const title = '<h2 id="figures">How swaps went lately</h2>';
	if (!stats || stats.routes.length === 0) {
		return `${title}<p class="lead">There are no figures yet: a route is shown once it has ${stats?.minSwaps ?? 100} settled swaps in a week.</p>`;
	}
	const rows = stats.routes.map(
		({ originChain, destinationChain, swaps, secondsToSettled, deliveredBps }) => {
			const route = `${escapeHtml(nameOf(originChain))} → ${escapeHtml(nameOf(destinationChain))}`;
			const times = [secondsToSettled.p50, secondsToSettled.p90, secondsToSettled.p95].map(
				(value) => `${value} s`,
			);
			const shares = [deliveredBps.p50, deliveredBps.p90, deliveredBps.p95].map((value) => `${value / 100}%`);
			return `<tr><td>${route}</td><td>${swaps}+</td><td>${times.join(" / ")}</td><td>${shares.join(" / ")}</td></tr>`;
		},
	);
	return `${title}<p class="lead">Settled swaps of the last ${stats.days} days, as of ${escapeHtml(stats.computedAt)}. Half, 90% and 95% of them took at most this time from submit to settled, and delivered at least this share of the quoted output.</p>
<div class="scroll" tabindex="0"><table><thead><tr><th>Route</th><th>Swaps</th><th>Time: half / 90% / 95%</th><th>Delivered: half / 90% / 95%</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}
