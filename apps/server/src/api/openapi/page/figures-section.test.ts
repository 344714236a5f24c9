import { expect, test } from "vitest";
import { figuresSection } from "./figures-section.ts";

const route = {
	originChain: 1,
	destinationChain: 2,
	swaps: 1200,
	secondsToSettled: { p50: 6.4, p90: 9.8, p95: 12.1 },
	deliveredBps: { p50: 10_000, p90: 9_999, p95: 9_950 },
};
const stats = { computedAt: "2026-06-01T12:00:00.000Z", days: 7, minSwaps: 100, routes: [route] };
const nameOf = (chainId: number) => `<Chain ${chainId}>`;

test("the docs page shows each route's figures, with the chains' names escaped", () => {
	const html = figuresSection(stats, { nameOf });
	expect(html).toContain("&lt;Chain 1&gt; → &lt;Chain 2&gt;");
	expect(html).toContain("6.4 s / 9.8 s / 12.1 s");
	expect(html).toContain("100% / 99.99% / 99.5%");
	expect(html).not.toMatch(/<Chain|<script/);
});

test("without figures the page shows when some will be available", () => {
	for (const none of [undefined, { ...stats, routes: [] }]) {
		expect(figuresSection(none, { nameOf })).toContain("There are no figures yet");
	}
});
