/** The subset of JSON Schema that the interface's document uses. */
export type JsonSchema = {
	$ref?: string;
	type?: string | string[];
	const?: unknown;
	enum?: unknown[];
	anyOf?: JsonSchema[];
	oneOf?: JsonSchema[];
	pattern?: string;
	minLength?: number;
	minimum?: number;
	exclusiveMinimum?: number;
	maximum?: number;
	properties?: Record<string, JsonSchema>;
	required?: string[];
	items?: JsonSchema;
};

type Parameter = { name: string; in: "query" | "path"; required: boolean; schema: JsonSchema };

/** A documented answer. */
export type DocumentedAnswer = {
	headers: string[];
	/** Pointer to the schema of the body in the document, and the body's type. */
	schemaPointer: string;
	contentType: string;
};

export type DocumentedOperation = {
	id: string;
	method: string;
	path: string;
	needsKey: boolean;
	parameters: Parameter[];
	body: JsonSchema | undefined;
	/** Answers by status, and by `default`. */
	answers: Record<string, DocumentedAnswer>;
};

/** The part of the answer of GET /openapi.json that is read here. */
export type OpenapiJson = {
	paths: Record<string, Record<string, OperationJson>>;
	components: { schemas: Record<string, JsonSchema> };
};
type AnswerJson = {
	$ref?: string;
	headers?: Record<string, unknown>;
	content?: Record<string, { schema: JsonSchema }>;
};
type OperationJson = {
	operationId: string;
	security: unknown[];
	parameters?: Parameter[];
	requestBody?: { content: Record<string, { schema: JsonSchema }> };
	responses: Record<string, AnswerJson>;
};

export function operationsOf(document: OpenapiJson): DocumentedOperation[] {
	return Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({
			id: operation.operationId,
			method: method.toUpperCase(),
			path,
			needsKey: operation.security.length > 0,
			parameters: operation.parameters ?? [],
			body: operation.requestBody?.content["application/json"]?.schema,
			answers: Object.fromEntries(
				Object.keys(operation.responses).map((status) => [
					status,
					documentedAnswer(document, ["paths", path, method, "responses", status]),
				]),
			),
		})),
	);
}

function documentedAnswer(document: OpenapiJson, keys: string[]): DocumentedAnswer {
	const answer = at(document, keys) as AnswerJson;
	if (answer.$ref) return documentedAnswer(document, answer.$ref.split("/").slice(1));
	const [contentType = ""] = Object.keys(answer.content ?? {});
	const pointer = [...keys, "content", contentType, "schema"].map((key) =>
		encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")),
	);
	return {
		headers: Object.keys(answer.headers ?? {}),
		schemaPointer: `#/${pointer.join("/")}`,
		contentType,
	};
}

/** Follows the reference of a schema, if it is one. */
export function resolveSchema(document: OpenapiJson, schema: JsonSchema): JsonSchema {
	return schema.$ref ? (at(document, schema.$ref.split("/").slice(1)) as JsonSchema) : schema;
}

function at(node: unknown, keys: string[]): unknown {
	return keys.reduce((inner, key) => (inner as Record<string, unknown>)[key], node);
}
