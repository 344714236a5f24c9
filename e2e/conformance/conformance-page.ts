import type { NamedTest } from "./read-tests.ts";
import type { StatementSection } from "./statement-section.ts";

export type TestFile = { path: string; tests: readonly NamedTest[] };
export type Part = { title: string; about: string; sections: readonly StatementSection[] };

/** Returns the mismatches of statements and tests: an id without a statement, a statement without a test. */
export function conformanceProblems(parts: readonly Part[], files: readonly TestFile[]): string[] {
	const statements = parts.flatMap(({ sections }) => sections.flatMap((section) => section.statements));
	const known = statements.map(([id]) => id);
	const tests = files.flatMap(({ path, tests }) => tests.map((test) => ({ path, ...test })));
	const shown = new Set(tests.flatMap(({ ids }) => ids));
	return [
		...repeated(known).map((id) => `${id} is the id of two statements`),
		...repeated(statements.map(([, text]) => text)).map((text) => `two statements are the same: ${text}`),
		...tests.flatMap(({ path, title, ids }) => [
			...ids.filter((id) => !known.includes(id)).map((id) => `${id} has no statement: "${title}" in ${path}`),
			...repeated(ids).map((id) => `${id} is named twice: "${title}" in ${path}`),
		]),
		...statements.filter(([id]) => !shown.has(id)).map(([id, text]) => `${id} has no test: ${text}`),
	];
}

/** Returns the page that shows every statement with its tests. Links are relative to `docs/`. */
export function conformancePage(parts: readonly Part[], files: readonly TestFile[]): string {
	const statements = parts.flatMap(({ sections }) => sections.flatMap((section) => section.statements));
	const tests = files.flatMap(({ path, tests }) =>
		tests.filter(({ ids }) => ids.length > 0).map((test) => ({ path, ...test })),
	);
	const testsOf = (id: string) =>
		tests
			.filter(({ ids }) => ids.includes(id))
			.map(({ path, title }) => `[${cell(title)}](../${path})`)
			.join("<br>");
	const table = ({ title, statements: rows }: StatementSection) =>
		[
			`### ${title}`,
			"",
			"| | What holds | Shown by |",
			"|---|---|---|",
			...rows.map(([id, text]) => `| ${id} | ${cell(text)} | ${testsOf(id)} |`),
		].join("\n");
	return [
		"# What holds, and the test that shows it",
		`Every rule of the HTTP interface as a small statement, beside the tests that show it:
${statements.length} statements, ${tests.length} tests. Nearly all of these tests are stories through HTTP against running processes, on chains of
their own; some are told by [a stranger's client](../e2e/black-box), which was written from the interface alone and imports
nothing of ours.`,
		`A test names the statements that it shows at the end of its title: \`[I2.1-6, D-submit-8]\`. From those titles
\`node e2e/conformance/generate.ts\` makes this page. With \`--check\`, as \`bash .ci/run check\` runs it, it fails where the page
is stale, a statement has no test, or a test that counts is not run. In titles, \`$name\` and \`%s\` stand for the rows that a
test is run with.`,
		...parts.flatMap(({ title, about, sections }) => [`## ${title}`, about, ...sections.map(table)]),
	]
		.join("\n\n")
		.concat("\n");
}

function repeated(values: readonly string[]): string[] {
	return [...new Set(values.filter((value, i) => values.indexOf(value) !== i))];
}

/** Escapes the characters that would end a cell, begin a tag, or act as a link's brackets. */
function cell(text: string): string {
	return text.replace(/[|[\]]/g, "\\$&").replaceAll("<", "&lt;");
}
