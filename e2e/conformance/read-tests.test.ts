import { expect, test } from "vitest";
import { readTests } from "./read-tests.ts";

const read = (source: string) => readTests(source, { path: "x.test.ts" });

test("a test is found by its title, with the ids at its end, for every way of running it", () => {
	const source = `
		import { describe, it, test } from "vitest";
		test("plain", () => {});
		test("one [I2.1-6]", async ({ expect }) => { expect("no title [I1-1]").toBe(1); });
		it("two [I1-1, D-quote-request-12]", () => {});
		test.concurrent("at once [I1-2]", async () => {});
		test.each([["a", "b [I9-9]"]])("rows of %s [I1-3]", () => {});
		test.concurrent.for<{ a: string }>([{ a: "x" }])("rows of $a [I1-4]", async () => {});
		test(\`a template [I1-5]\`, () => {});
		describe("a block", () => { test("in it [I1-6]", () => {}); });
		test("brackets of its own [a, b]", () => {});
	`;
	expect(read(source)).toEqual([
		{ title: "plain", ids: [] },
		{ title: "one", ids: ["I2.1-6"] },
		{ title: "two", ids: ["I1-1", "D-quote-request-12"] },
		{ title: "at once", ids: ["I1-2"] },
		{ title: "rows of %s", ids: ["I1-3"] },
		{ title: "rows of $a", ids: ["I1-4"] },
		{ title: "a template", ids: ["I1-5"] },
		{ title: "a block › in it", ids: ["I1-6"] },
		{ title: "brackets of its own [a, b]", ids: [] },
	]);
});

test("a test in a comment or a string is not found, and neither is a call of another function", () => {
	const source = `
		// test("in a comment [I1-1]", () => {});
		/* it("in a longer one [I1-2]", () => {}); */
		const text = 'test("in a string [I1-3]", () => {})';
		const template = \`test("in a template [I1-4]")\`;
		/test\\("in a pattern [I1-5]"\\)/.test("an argument [I1-6]");
		pattern.test("an argument [I1-7]");
		attest("by another name [I1-8]");
		test.each(["a row [I1-9]"]);
	`;
	expect(read(source)).toEqual([]);
});

test.each([
	`test.skip("a [I1-1]", () => {});`,
	`test.skip("a", () => {});`,
	`test.todo("a");`,
	`test.only("a", () => {});`,
	`test.fails("a", () => {});`,
	`test.concurrent.skip("a", () => {});`,
	`test.only.each([1])("a", () => {});`,
	`describe.skip("a", () => { test("b", () => {}); });`,
	`describe.only("a", () => {});`,
	`test.runIf(process.env.CI)("a [I1-1]", () => {});`,
	`test.skipIf(true)("a [I1-1]", () => {});`,
	`test("a [I1-1]", ({ skip }) => { skip(); });`,
	`test("a [I1-1]", (context) => { if (x) { context.skip("now"); } });`,
])("a test that is skipped, exclusive or conditional is refused: %s", (source) => {
	expect(() => read(source)).toThrow("does not always run");
});

test("a conditional test is accepted if it names no statement", () => {
	for (const source of [
		`test.runIf(process.env.FULL)("a", () => {});`,
		`test("a", ({ skip }) => { if (!process.env.FULL) skip(); });`,
	]) {
		expect(read(source)).toEqual([{ title: "a", ids: [] }]);
	}
});

test.each([
	`test("I1-1: at the front", () => {});`,
	`test("not [I1-1] at the end", () => {});`,
	`test("no comma [I1-1 I1-2]", () => {});`,
	`test("too close[I1-1]", () => {});`,
	`test("among others [I1-1, x]", () => {});`,
])("ids anywhere but in brackets at the end are refused: %s", (source) => {
	expect(() => read(source)).toThrow("ids must be at the end");
});

test("a block with ids is refused, and so is a source that cannot be parsed", () => {
	expect(() => read(`describe("a block [I1-1]", () => {});`)).toThrow("ids belong to tests");
	expect(() => read("test(")).toThrow("x.test.ts cannot be parsed");
});
