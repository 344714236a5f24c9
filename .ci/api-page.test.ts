import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// docs/api.md shows one swap call by call. Its bodies must be the examples of the OpenAPI document.

const docs = join(import.meta.dirname, "../docs");
const page = readFileSync(join(docs, "api.md"), "utf8");
const { paths, info } = JSON.parse(readFileSync(join(docs, "openapi.json"), "utf8"));

type Content = { content?: { "application/json"?: { example?: object } } };
type Operation = { requestBody?: Content; responses: { 200: Content } };
const operations = Object.values<Record<string, Operation>>(paths).flatMap((path) => Object.values(path));
const exampleOf = ({ content }: Content = {}) => content?.["application/json"]?.example;

test("every request body in docs/api.md is an example of the OpenAPI document", () => {
	const bodies = [...page.matchAll(/-d '(\{.*?\})'\n/gs)].map(([, json = ""]) => JSON.parse(json));
	expect(bodies).toHaveLength(3);
	const examples = operations.map(({ requestBody }) => exampleOf(requestBody));
	for (const body of bodies) expect(examples).toContainEqual(body);
});

test("every answer in docs/api.md is part of an example of the OpenAPI document", () => {
	const answers = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, json = ""]) => JSON.parse(json));
	expect(answers).toHaveLength(5);
	const examples = operations.map(({ responses }) => exampleOf(responses[200]));
	for (const answer of answers) expect(examples).toContainEqual(expect.objectContaining(answer));
});

test("every endpoint that docs/api.md names is in the OpenAPI document", () => {
	const named = [...page.matchAll(/`(GET|POST) (\/[^`]+)`/g)];
	expect(named.length).toBeGreaterThan(8);
	for (const [text, method = "", path = ""] of named) {
		expect(paths[path]?.[method.toLowerCase()], text).toBeDefined();
	}
});

test("docs/api.md names the major version of the OpenAPI document", () => {
	expect(page).toContain(`is version ${String(info.version).split(".")[0]}.`);
});
