// Lists every statement about the interface with the tests that show it, and writes docs/conformance.md.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conformancePage, conformanceProblems, type Part, type TestFile } from "./conformance-page.ts";
import { decisionStatements } from "./decision-statements.ts";
import { interfaceStatements } from "./interface-statements.ts";
import { readTests } from "./read-tests.ts";

const usage = `Usage: node e2e/conformance/generate.ts [--check] [--json]

Reads the titles of all tests, and writes docs/conformance.md. Exits 1 if a statement has no test, or a title names
a statement that does not exist.

  --check  write nothing; also exit 1 if the committed page is stale
  --json   print the statements with their tests as JSON`;

const { values: options } = parseArgs({
	options: { check: { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (options.help) {
	console.log(usage);
	process.exit(0);
}

const root = join(import.meta.dirname, "../..");
const page = "docs/conformance.md";
const sources = [
	"e2e/**/*.test.ts",
	"e2e/chaos/stories/*.ts",
	"apps/*/src/**/*.test.ts",
	"packages/**/*.test.ts",
];
const parts: Part[] = [
	{
		title: "The interface",
		about: "What a client relies on that was written for the interface, numbered by its sections.",
		sections: interfaceStatements,
	},
	{
		title: "What this service decided",
		about: "What the interface leaves open, as it is here, and what is added to it.",
		sections: decisionStatements,
	},
];

const problems: string[] = [];
const files = globSync(sources, { cwd: root, exclude: (name) => name.includes("node_modules") })
	.toSorted()
	.map((path): TestFile => {
		try {
			return { path, tests: readTests(readFileSync(join(root, path), "utf8"), { path }) };
		} catch (error) {
			problems.push((error as Error).message);
			return { path, tests: [] };
		}
	});
problems.push(...conformanceProblems(parts, files));

const text = conformancePage(parts, files);
const isStale = !existsSync(join(root, page)) || readFileSync(join(root, page), "utf8") !== text;
if (options.check && isStale) problems.push(`${page} is stale: run node e2e/conformance/generate.ts`);
if (!options.check) {
	writeFileSync(join(root, page), text);
	console.error(`written: ${page}`);
}

if (options.json) {
	const rows = parts.flatMap(({ sections }) =>
		sections.flatMap(({ statements }) =>
			statements.map(([id, statement]) => ({
				id,
				statement,
				tests: files.flatMap(({ path, tests }) =>
					tests.filter(({ ids }) => ids.includes(id)).map(({ title }) => ({ path, title })),
				),
			})),
		),
	);
	console.log(JSON.stringify({ statements: rows, problems }, null, "\t"));
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
