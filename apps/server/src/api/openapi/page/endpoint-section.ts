import type { Answer, JsonSchema, MediaType, OpenapiDocument, Operation } from "../openapi-document.ts";
import { escapeHtml } from "./escape-html.ts";
import { codeBlock, jsonCode, renderMarkdown } from "./render-markdown.ts";

/** Returns the section of one endpoint: its description and fields on the left, its example on the right. */
export function endpointSection(
	{ method, path, operation }: { method: string; path: string; operation: Operation },
	{ components }: OpenapiDocument,
): string {
	const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
	const body = requestBody?.content["application/json"];
	const answer = answerOf(responses["200"]);
	const [[contentType = "", media] = []] = Object.entries(answer?.content ?? {});
	return `<section class="endpoint" id="${operationId}">
<div class="say">
<h3>${escapeHtml(summary)}</h3>
<p class="path"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></p>
${renderMarkdown(description)}
${part("Parameters", parameters.length === 0 ? "" : fieldTable(parameters.map(({ name, required, schema, description: notes }) => ({ name, isRequired: required, schema: { ...schema, description: notes } }))))}
${part("Body", body ? fieldTables(resolve(body)) : "")}
${part("Answer", media ? answerFields(contentType, media) : "")}
${part("Errors", errorTable())}
</div>
<div class="show">
<h4>Request</h4>
${codeBlock(escapeHtml(curlOf({ method, path, operation })))}
${media && contentType === "application/json" ? `<h4>Answer</h4>${jsonCode(media.example)}` : ""}
</div>
</section>`;

	function resolve({ schema }: MediaType): JsonSchema {
		const name = String(schema.$ref ?? "").replace("#/components/schemas/", "");
		return components.schemas[name] ?? schema;
	}

	function answerFields(type: string, found: MediaType): string {
		return type === "application/json" ? fieldTables(resolve(found)) : `<p>${escapeHtml(type)}</p>`;
	}

	function errorTable(): string {
		const rows = Object.entries(responses).flatMap(([status, response]) =>
			Object.keys(answerOf(response)?.content["application/json"]?.examples ?? {}).map((code) => {
				const { next } = (components.examples[code]?.value ?? {}) as { next?: string };
				return `<tr><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td><code>${next}</code></td></tr>`;
			}),
		);
		return `<div class="scroll" tabindex="0"><table class="errors"><thead><tr><th>HTTP</th><th>Code</th><th>Next</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
	}
}

function part(title: string, html: string): string {
	return html === "" ? "" : `<h4>${title}</h4>${html}`;
}

function answerOf(response: Operation["responses"][string] | undefined): Answer | undefined {
	return response && "content" in response ? response : undefined;
}

/** Returns a command that can be pasted into a shell which has the two variables. */
function curlOf({
	method,
	path,
	operation: { parameters = [], requestBody, security },
}: {
	method: string;
	path: string;
	operation: Operation;
}): string {
	const ofPath = parameters.filter((parameter) => parameter.in === "path");
	const ofQuery = parameters.filter(
		(parameter) => parameter.in === "query" && parameter.example !== undefined,
	);
	const filled = ofPath.reduce(
		(text, { name, example = "" }) => text.replace(`{${name}}`, String(example)),
		path,
	);
	const query = ofQuery.map(({ name, example = "" }) => `${name}=${encodeURIComponent(example)}`).join("&");
	const lines = [
		`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"$GEOSWAP_URL${filled}${query && `?${query}`}"`,
		...(security.length > 0 ? ['-H "x-api-key: $GEOSWAP_API_KEY"'] : []),
	];
	const body = requestBody?.content["application/json"]?.example;
	if (body !== undefined)
		lines.push(
			'-H "content-type: application/json"',
			`-d '${JSON.stringify(body, null, 2).replaceAll("\n", "\n  ")}'`,
		);
	return lines.join(" \\\n  ");
}

type Field = { name: string; schema: JsonSchema; isRequired: boolean };

/** Returns tables of the fields of an object and, folded below them, of the objects in it. */
function fieldTables(schema: JsonSchema, parent = ""): string {
	const fields = fieldsOf(schema);
	if (fields.length === 0) return "";
	const inner = fields.flatMap(({ name, schema: field }) =>
		objectsIn(field).map(({ schema: object, isListed, kind }) => {
			const path = `${parent}${name}${isListed ? "[]" : ""}`;
			const title = `Fields of <code>${escapeHtml(path)}</code>${kind ? `, where it is <code>${escapeHtml(kind)}</code>` : ""}`;
			return `<details${fields.length === 1 ? " open" : ""}><summary>${title}</summary>${fieldTables(object, `${path}.`)}</details>`;
		}),
	);
	return fieldTable(fields) + inner.join("");
}

function fieldTable(fields: Field[]): string {
	const rows = fields.map(({ name, schema, isRequired }) => {
		const need = isRequired ? '<span class="required">required</span>' : "optional";
		return `<tr><td><code>${escapeHtml(name)}</code></td><td>${typeOf(schema)}</td><td>${need}</td><td>${notesOf(schema)}</td></tr>`;
	});
	return `<div class="scroll" tabindex="0"><table class="fields"><thead><tr><th>Field</th><th>Type</th><th>Required</th><th>Notes</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema): Field[] {
	const names = required as string[];
	return Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => ({
		name,
		schema,
		isRequired: names.includes(name),
	}));
}

/** Returns the types that the value may have, except null, because an optional null is absent. */
function choicesOf(schema: JsonSchema): JsonSchema[] {
	const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
	return choices ? choices.flatMap(choicesOf).filter(({ type }) => type !== "null") : [schema];
}

type InnerObject = { schema: JsonSchema; isListed: boolean; kind: string | undefined };

function objectsIn(schema: JsonSchema): InnerObject[] {
	const choices = choicesOf(schema);
	return choices.flatMap((choice): InnerObject[] => {
		if (choice.type === "array") {
			return objectsIn(choice.items as JsonSchema).map((object) => ({ ...object, isListed: true }));
		}
		if (choice.properties === undefined) return [];
		const { kind } = choice.properties as Record<string, JsonSchema>;
		const isOneOfMany = choices.length > 1 && typeof kind?.const === "string";
		return [{ schema: choice, isListed: false, kind: isOneOfMany ? String(kind.const) : undefined }];
	});
}

function typeOf(schema: JsonSchema): string {
	const names = choicesOf(schema).map((choice) => {
		if (choice.type === "array") return `list of ${typeOf(choice.items as JsonSchema)}s`;
		if (choice.format === "date-time") return "time";
		return typeof choice.type === "string" ? choice.type : "any";
	});
	return [...new Set(names)].join(" or ");
}

function notesOf(schema: JsonSchema): string {
	const [only] = choicesOf(schema);
	const values =
		only?.enum ?? only?.["x-extensible-enum"] ?? (only?.const === undefined ? undefined : [only.const]);
	const notes = [
		typeof schema.description === "string" ? inline(schema.description) : "",
		Array.isArray(values) ? values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" ") : "",
	];
	return notes.filter((note) => note !== "").join("<br>");
}

/** Renders markdown without the paragraph around it. */
function inline(markdown: string): string {
	return renderMarkdown(markdown)
		.trim()
		.replace(/^<p>(.*)<\/p>$/s, "$1");
}
