import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the serious problems of accessibility of the current page, and how far it scrolls sideways. */
export async function findPageProblems(page: Page): Promise<string[]> {
	// The policy of the pages forbids scripts from elsewhere, so the checker is injected through the debugger.
	await page.evaluate(`(() => { ${axe} })(); undefined`).catch(() => {});
	const violations = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
		"axe.run().then(({ violations }) => violations)",
	);
	const found = violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, nodes }) => `${id} ${nodes[0]?.html.slice(0, 160)}`);
	const sideways = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
	return sideways > 0 ? [...found, `scrolls ${sideways} px sideways`] : found;
}
