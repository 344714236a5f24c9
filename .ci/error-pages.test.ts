import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { errorDetailsSchema, errorExample } from "../apps/server/src/api/openapi/error-schema.ts";
import { errorBodySchema, errorCatalogue, errorCodes } from "../packages/protocol/src/index.ts";

// Callers branch on the contents of these pages, and the service serves them.

const folder = join(import.meta.dirname, "../docs/errors");
const read = (name: string) => readFileSync(join(folder, name), "utf8");

test("every error has a page, and there are no other pages", () => {
	expect(readdirSync(folder).sort()).toEqual([...errorCodes.map((code) => `${code}.md`), "README.md"].sort());
});

test.each(errorCodes)("the page of %s matches the catalogue of errors", (code) => {
	const page = read(`${code}.md`);
	const { http, next, retryable, message } = errorCatalogue[code];
	expect(page.split("\n")[0]).toBe(`# \`${code}\``);
	expect(page).toContain(`\n> ${message}\n`);
	expect(page).toContain(`\n| ${http} | \`${next}\` | \`${retryable}\` |\n`);
	for (const heading of ["What happened", "Why it happens", "What to do", "Example"]) {
		expect(page).toContain(`\n## ${heading}\n`);
	}
});

test.each(errorCodes)("the example of %s is a valid answer of the service", (code) => {
	const blocks = [...read(`${code}.md`).matchAll(/```json\n(.*?)```/gs)].map(([, json = ""]) => json);
	expect(blocks).toHaveLength(1);
	const body = errorBodySchema.parse(JSON.parse(blocks[0] ?? ""));
	expect(body).toEqual(errorExample(code));
	const details = errorDetailsSchema(code);
	if (details) details.parse(body.details);
	else expect(body.details).toBeUndefined();
});

test.each(errorCodes)("the page of %s explains every reason and names every field of details", (code) => {
	const schema = JSON.stringify(errorDetailsSchema(code)?.toJSONSchema({ io: "input" }) ?? {});
	const { properties = {} } = JSON.parse(schema);
	const reasons: string[] = properties.reason?.enum ?? [];
	const page = read(`${code}.md`);
	for (const reason of reasons) expect(page).toContain(`\n| \`${reason}\` | `);
	for (const field of Object.keys(properties)) expect(page).toContain(`details.${field}`);
});

test("the table links every page, with its status, next and retryable", () => {
	const rows = read("README.md").split("\n");
	for (const code of errorCodes) {
		const { http, next, retryable } = errorCatalogue[code];
		const start = `| ${http} | [\`${code}\`](${code}.md) | \`${next}\` | \`${retryable}\` | `;
		expect(rows.filter((row) => row.startsWith(start))).toHaveLength(1);
	}
});
