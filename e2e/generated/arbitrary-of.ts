import fc from "fast-check";
import { type JsonSchema, type OpenapiJson, resolveSchema } from "./interface-document.ts";

/** Generates any value that a schema of the document allows. */
export function arbitraryOf(document: OpenapiJson, reference: JsonSchema): fc.Arbitrary<unknown> {
	const schema = resolveSchema(document, reference);
	const options = schema.anyOf ?? schema.oneOf;
	if (options) return fc.oneof(...options.map((option) => arbitraryOf(document, option)));
	if ("const" in schema) return fc.constant(schema.const);
	if (schema.enum) return fc.constantFrom(...schema.enum);
	if (Array.isArray(schema.type)) {
		return fc.oneof(...schema.type.map((type) => arbitraryOf(document, { ...schema, type })));
	}
	const { minimum = 0, exclusiveMinimum = minimum - 1, maximum = Number.MAX_SAFE_INTEGER } = schema;
	switch (schema.type) {
		case "string":
			return schema.pattern === undefined
				? fc.string({ minLength: schema.minLength ?? 0 })
				: fc.stringMatching(new RegExp(schema.pattern));
		case "integer":
			return fc.integer({ min: Math.max(minimum, exclusiveMinimum + 1), max: maximum });
		case "number":
			return fc.double({ min: minimum, max: maximum, noNaN: true });
		case "boolean":
			return fc.boolean();
		case "null":
			return fc.constant(null);
		case "array":
			return fc.array(arbitraryOf(document, schema.items ?? {}), { maxLength: 5 });
		case "object": {
			const { properties = {}, required = [] } = schema;
			const fields = Object.entries(properties).map(
				([name, field]) => [name, arbitraryOf(document, field)] as const,
			);
			return fc.record(Object.fromEntries(fields), { requiredKeys: required });
		}
		default:
			return fc.jsonValue({ maxDepth: 2 });
	}
}
