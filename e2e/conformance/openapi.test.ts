import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect, test } from "vitest";

const path = join(import.meta.dirname, "../../docs/openapi.json");
const source = readFileSync(path, "utf8");
const document = JSON.parse(source);

test("the OpenAPI document has no errors or warnings by the recommended rules", async () => {
	const config = await createConfig({ extends: ["recommended"] });
	const problems = await lintFromString({ source, absoluteRef: path, config });
	const said = problems.map(
		({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`,
	);
	expect(said).toEqual([]);
});

type Place = { pointer: string; schema: object; value: unknown };

/** Returns every example beside a schema, with its pointer. */
function examplesIn(node: unknown, pointer = "#"): Place[] {
	if (typeof node !== "object" || node === null) return [];
	const { schema, example, examples } = node as Record<string, unknown>;
	const own =
		typeof schema === "object" && schema !== null
			? [
					...(example === undefined ? [] : [{ pointer, schema, value: example }]),
					...Object.entries(examples ?? {}).map(([name, { $ref }]) => ({
						pointer: `${pointer}/${name}`,
						schema,
						value: resolve($ref).value,
					})),
				]
			: [];
	return [
		...own,
		...Object.entries(node).flatMap(([key, child]) =>
			examplesIn(child, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
		),
	];
}

function resolve($ref: string): { value: unknown } {
	return $ref
		.slice(2)
		.split("/")
		.reduce((node, key) => node[key], document);
}

test("every example in the OpenAPI document is valid by its schema", () => {
	const ajv = new Ajv2020({ strict: false, allErrors: true });
	formats.default(ajv);
	ajv.addSchema({ $id: "https://geoswap/openapi.json", ...document });
	const places = examplesIn(document);
	expect(places.length).toBeGreaterThan(100);
	const invalid = places.flatMap(({ pointer, schema, value }) => {
		const validate = ajv.compile(
			JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"https://geoswap/openapi.json#')),
		);
		return validate(value) ? [] : [`${pointer}: ${ajv.errorsText(validate.errors)}`];
	});
	expect(invalid).toEqual([]);
});

test("an error of a later version is a valid ErrorBody and none of this version's errors, and a new reason is valid", () => {
	const ajv = new Ajv2020({ strict: false });
	formats.default(ajv);
	ajv.addSchema({ $id: "https://geoswap/openapi.json", ...document });
	const isValid = (name: string, value: object) =>
		ajv.validate({ $ref: `https://geoswap/openapi.json#/components/schemas/${name}` }, value);
	const { value } = document.components.examples.NO_ROUTE;
	expect([isValid("ErrorBody", value), isValid("NoRouteError", value)]).toEqual([true, true]);
	for (const later of [
		{ ...value, code: "NOT_TODAY" },
		{ ...value, next: "sleep" },
	]) {
		expect([isValid("ErrorBody", later), isValid("NoRouteError", later)]).toEqual([true, false]);
	}
	expect(isValid("NoRouteError", { ...value, details: { reason: "weather" } })).toBe(true);
	const { code: _, ...nameless } = value;
	expect(isValid("ErrorBody", nameless)).toBe(false);
});
