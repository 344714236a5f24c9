import * as z from "zod";

export type JsonSchema = { [keyword: string]: unknown };

/** Returns the schema of what a caller may send. */
export function requestJsonSchema(schema: z.ZodType): JsonSchema {
	return toJsonSchema(schema, "input");
}

/** Returns the schema of an answer. Additional fields are allowed, because clients tolerate unknown fields. */
export function responseJsonSchema(schema: z.ZodType): JsonSchema {
	return toJsonSchema(schema, "output");
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
	const { $schema: _, ...rest } = z.toJSONSchema(schema, {
		io,
		override: ({ jsonSchema }) => {
			if (io === "output") delete jsonSchema.additionalProperties;
			// The library's pattern counts the days of each month, which no reader needs.
			if (jsonSchema.format === "date-time") {
				jsonSchema.pattern = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$";
			}
			// The pattern is that of a number in a query, which arrives as text.
			if (jsonSchema.type === "integer") delete jsonSchema.pattern;
			// Zalando's extension for lists that may grow. Clients generated from it accept new values.
			if (jsonSchema["x-extensible-enum"] === true) {
				jsonSchema["x-extensible-enum"] = jsonSchema.enum;
				delete jsonSchema.enum;
			}
			// Every integer has these bounds, so they carry no information.
			if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
			if (io === "output" && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
		},
	});
	return rest;
}
