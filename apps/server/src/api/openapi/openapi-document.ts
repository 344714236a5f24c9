import type { JsonSchema } from "./json-schema.ts";

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
