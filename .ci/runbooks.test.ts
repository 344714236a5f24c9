import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { readSteps } from "../e2e/environment/read-steps.ts";
import { helpOf, isOwnProgram } from "./help-of.ts";

// An operator who was woken up follows these pages command by command.

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const rules = read("deploy/alerts.yml").split("- alert: ").slice(1);
const alerts = rules.map((rule) => /^\w+/.exec(rule)?.[0] ?? "");
const pages = globSync("docs/runbooks/*.md", { cwd: root }).toSorted();
/** The programs of the pages' commands, beside the service's. An operator's machine has them. */
const programs = ["cast", "curl", "git", "kill", "promtool", "psql", "redis-cli", "systemctl", "timedatectl"];

test("every alert rule names its one runbook page, and the index lists it with its severity", () => {
	expect(pages.map((page) => basename(page, ".md"))).toEqual(alerts.toSorted());
	const index = read("docs/observability.md");
	for (const [i, alert] of alerts.entries()) {
		expect(rules[i]).toContain(`runbook_url: docs/runbooks/${alert}.md\n`);
		const severity = /severity: (\w+)/.exec(rules[i] ?? "")?.[1];
		expect(index).toContain(`\n| [${alert}](runbooks/${alert}.md) | ${severity} |\n`);
	}
	expect(index.match(/\]\(runbooks\//g)).toHaveLength(alerts.length);
});

test.each(pages)("%s has its four parts, and commands", (page) => {
	const text = read(page);
	expect(text.split("\n")[0]).toBe(`# ${basename(page, ".md")}`);
	const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading).slice(1);
	expect(headings).toEqual(["What you see", "What it means", "Do this", "Check that"]);
	expect(readSteps(text).commands.length).toBeGreaterThan(0);
});

test("every command of the pages exists, with every option that a page passes", async () => {
	const commands = new Set(pages.flatMap((page) => readSteps(read(page)).commands));
	for (const command of commands) {
		for (const part of command.split(/ \| (?=[a-z])/)) {
			// A command may first set variables for its own environment.
			const [program = "", ...words] = part.replace(/^(\w+=('[^']*'|\S+) )+/, "").split(" ");
			if (!isOwnProgram(program)) {
				expect(programs, command).toContain(program);
				continue;
			}
			const shown = await helpOf(words, program);
			for (const option of words.filter((word) => word.startsWith("--"))) {
				expect(shown, command).toContain(`${option} `);
			}
		}
	}
});

test("every metric that a page or a rule names is documented", () => {
	const names = (text: string) =>
		[...text.matchAll(/\bgeoswap_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ""));
	const documented = new Set(names(read("docs/metrics.md")));
	const used = new Set([...pages, "deploy/alerts.yml"].flatMap((page) => names(read(page))));
	expect([...used].filter((name) => !documented.has(name))).toEqual([]);
});
