import type { JsonSchema } from "../json-schema.ts";
import { escapeHtml } from "./escape-html.ts";
import { renderMarkdown } from "./render-markdown.ts";

export type Field = { name: string; schema: JsonSchema; isRequired: boolean };

/** Returns tables of the fields of an object and, folded below them, of the objects in it. */
export function fieldTables(schema: JsonSchema, parent = ""): string {
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

export function fieldTable(fields: Field[]): string {
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
