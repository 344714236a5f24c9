import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { badDaysPage } from "../e2e/bad-days/bad-days-page.ts";
import { pageFile, readRecord } from "../e2e/bad-days/record-day.ts";
import { shortenRules } from "../e2e/bad-days/shorten-rules.ts";
import { readSteps } from "../e2e/environment/read-steps.ts";

const rules = readFileSync(join(import.meta.dirname, "../deploy/alerts.yml"), "utf8");

test("docs/bad-days.md matches the recorded days", () => {
	expect(readFileSync(pageFile, "utf8")).toBe(badDaysPage(readRecord()));
});

test("every recorded day has an alert that exists", () => {
	const alerts = new Set([...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name));
	expect(readRecord().filter(({ alert }) => !alerts.has(alert))).toEqual([]);
});

test("shortened rules differ in their waits, windows and offsets only", () => {
	const masked = (text: string) =>
		text
			.replaceAll(/^(\s*(?:for|keep_firing_for): )\S+$/gm, "$1…")
			.replaceAll(/\[[^\]]*\]/g, "[…]")
			.replaceAll(/\boffset \w+/g, "offset …");
	expect(masked(shortenRules(rules))).toBe(masked(rules));
	expect(shortenRules("for: 5m\nexpr: rate(a[2m] offset 1h) > 120")).toBe(
		"for: 30000ms\nexpr: rate(a[12000ms] offset 360000ms) > 120",
	);
});

test("readSteps returns the commands of a page's last two parts, one per line", () => {
	const page =
		"# A\n\n## What you see\n\n```sh\nno\n```\n\n## Do this\n\n1. Ask.\n\n   ```sh\n   one \\\n     more\n   # why\n   two\n   ```\n\n## Check that\n\n```sh\nthree\n```\n";
	expect(readSteps(page).commands).toEqual(["one more", "two", "three"]);
});
