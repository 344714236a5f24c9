import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { swapTransitions } from "../packages/protocol/src/swap-status.ts";

// Everything that the docs quote must exist, because a reader follows links, greps for tests, and trusts code in a
// table.

const root = join(import.meta.dirname, "..");
const pages = globSync("**/*.md", { cwd: root, exclude: (name) => /node_modules|\.toolchain/.test(name) });
const read = (path: string) => readFileSync(join(root, path), "utf8");

test.each(pages)("every link in %s leads to a file", (page) => {
	const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(
		([, target]) => target ?? "",
	);
	const broken = targets.filter((target) => !existsSync(join(root, dirname(page), target)));
	expect(broken).toEqual([]);
});

test.each(pages)("every heading that %s links to exists", (page) => {
	const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*\.md)?#([^)]+)\)/g)];
	const missing = links.filter(([, target, heading]) => {
		const linked = target ? join(dirname(page), target) : page;
		const headings = read(linked).matchAll(/^#+ (.*)$/gm);
		return ![...headings].some(([, text = ""]) => anchorOf(text) === heading);
	});
	expect(missing.map(([link]) => link)).toEqual([]);
});

/** Returns a heading's anchor as GitHub makes it. */
function anchorOf(heading: string): string {
	const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
	return text.replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
}

test("every message in docs/log-messages.md is one that the service logs", () => {
	const sources = globSync("{apps,packages}/*/src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] })
		.map(read)
		.join("\n");
	const rows = read("docs/log-messages.md").matchAll(/^\| ([^|]*) \|/gm);
	const messages = [...rows].flatMap(([, cell = ""]) =>
		[...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text),
	);
	expect(messages.length).toBeGreaterThan(50);
	const isLogged = (message: string) => message.split("…").every((part) => sources.includes(part.trim()));
	expect(messages.filter((message) => !isLogged(message))).toEqual([]);
});

test("every test that docs/contracts.md names exists, and every line of code that it quotes is in the contracts", () => {
	const page = read("docs/contracts.md");
	const tests = globSync("{contracts/test,e2e/contracts}/**/*.{sol,ts}", { cwd: root }).map(read).join("\n");
	const sources = globSync("{contracts/src,packages/protocol/src/evm}/**/*.{sol,ts}", { cwd: root })
		.map(read)
		.join("\n")
		.replace(/\s+/g, " ");
	const threats = page.slice(page.indexOf("## Threats"), page.indexOf("## Who can call what"));
	const rows = threats.split("\n").filter((line) => line.startsWith("| "));
	const named = [...page.matchAll(/`((?:test|testFuzz|invariant)_?\w+)`/g)].map(([, name]) => name ?? "");
	expect(named.length).toBeGreaterThan(20);
	expect(named.filter((name) => !tests.includes(`function ${name}(`))).toEqual([]);

	const titles = rows.flatMap((row) =>
		[...(row.split(" | ")[2] ?? "").matchAll(/"([^"]{20,})"/g)].map(([, title]) => title ?? ""),
	);
	expect(titles.length).toBeGreaterThan(10);
	expect(titles.filter((title) => !tests.includes(`"${title}"`))).toEqual([]);

	const quoted = rows.flatMap((row) =>
		[...(row.split(" | ")[1] ?? "").matchAll(/`([^`]{12,})`/g)].map(([, code]) => code ?? ""),
	);
	expect(quoted.length).toBeGreaterThan(20);
	expect(quoted.filter((code) => !sources.includes(code.replace(/\s+/g, " ")))).toEqual([]);
});

test("the state diagram in docs/flow.md matches the table of transitions", () => {
	const arrows = swapTransitions.map(({ from, to, when }) => `\t${from} --> ${to}: ${when}`);
	const ends = ["settled", "failed", "refunded"].map((status) => `\t${status} --> [*]`);
	const picture = ["stateDiagram-v2", "\t[*] --> opening: submitted", ...arrows, ...ends].join("\n");
	expect(read("docs/flow.md")).toContain(`\`\`\`mermaid\n${picture}\n\`\`\``);
});
