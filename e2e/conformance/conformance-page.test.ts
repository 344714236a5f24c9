import { expect, test } from "vitest";
import { conformancePage, conformanceProblems, type Part, type TestFile } from "./conformance-page.ts";

const parts: Part[] = [
	{
		title: "Part",
		about: "What it is.",
		sections: [
			{
				title: "1 Section",
				statements: [
					["I1-1", "A `rule` | with a bar."],
					["I1-2", "Another."],
				],
			},
		],
	},
];
const files: TestFile[] = [
	{
		path: "e2e/a.test.ts",
		tests: [
			{ title: "it holds [x] | so", ids: ["I1-1", "I1-2"] },
			{ title: "of no statement", ids: [] },
		],
	},
	{ path: "e2e/b.test.ts", tests: [{ title: "<it> too", ids: ["I1-2"] }] },
];

test("each statement has a row with its tests, and characters that would break the table are escaped", () => {
	expect(conformanceProblems(parts, files)).toEqual([]);
	const page = conformancePage(parts, files);
	expect(page).toContain("2 statements, 2 tests");
	expect(page).toContain(`## Part

What it is.

### 1 Section

| | What holds | Shown by |
|---|---|---|
| I1-1 | A \`rule\` \\| with a bar. | [it holds \\[x\\] \\| so](../e2e/a.test.ts) |
| I1-2 | Another. | [it holds \\[x\\] \\| so](../e2e/a.test.ts)<br>[&lt;it> too](../e2e/b.test.ts) |
`);
	expect(page).not.toContain("of no statement");
});

test("a statement without a test, an id without a statement and a duplicate id are problems", () => {
	const wrong: TestFile[] = [
		{ path: "e2e/a.test.ts", tests: [{ title: "a", ids: ["I1-1", "I1-1", "I1-9"] }] },
	];
	expect(conformanceProblems(parts, wrong)).toEqual([
		'I1-9 has no statement: "a" in e2e/a.test.ts',
		'I1-1 is named twice: "a" in e2e/a.test.ts',
		"I1-2 has no test: Another.",
	]);
	const twice: Part[] = [...parts, { title: "Again", about: "", sections: parts[0]?.sections ?? [] }];
	expect(conformanceProblems(twice, files)).toEqual([
		"I1-1 is the id of two statements",
		"I1-2 is the id of two statements",
		"two statements are the same: A `rule` | with a bar.",
		"two statements are the same: Another.",
	]);
});
