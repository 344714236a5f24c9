import * as z from "zod";

// The part of OpenAPI 3.1 that our document uses.

export type Reference = { $ref: string };

export type Parameter = {
	name: string;
	in: "path" | "query";
	required: boolean;
	description?: string;
	schema: JsonSchema;
	example?: string | number;
};

export type MediaType = {
	schema: JsonSchema;
	example?: unknown;
	examples?: Record<string, Reference>;
};

export type Answer = {
	description: string;
	headers: Record<string, Reference>;
	content: Record<string, MediaType>;
};

export type Operation = {
	operationId: string;
	tags: string[];
	summary: string;
	description: string;
	security: Record<string, string[]>[];
	parameters?: Parameter[];
	requestBody?: { required: true; content: Record<string, MediaType> };
	/** Answers by HTTP status, and `default` for any other. */
	responses: Record<string, Answer | Reference>;
};

export type OpenapiDocument = {
	openapi: string;
	info: Record<"title" | "summary" | "description" | "version", string> & {
		license: Record<string, string>;
	};
	servers: { url: string }[];
	tags: { name: string; description: string }[];
	/** Operations by path, then by method in lower case. */
	paths: Record<string, Record<string, Operation>>;
	components: {
		securitySchemes: Record<string, Record<string, string>>;
		headers: Record<string, { description: string; schema: JsonSchema; example?: unknown }>;
		examples: Record<string, { summary: string; value: unknown }>;
		responses: Record<string, Answer>;
		schemas: Record<string, JsonSchema>;
	};
};

/**
 * The version of the interface, not of the program: major.minor.patch. docs/api.md describes what may change in each.
 */
export const interfaceVersion = "1.3.0";

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
