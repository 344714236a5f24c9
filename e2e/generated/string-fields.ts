import type { Draft } from "./draft-request.ts";
import {
	type DocumentedOperation,
	type JsonSchema,
	type OpenapiJson,
	resolveSchema,
} from "./interface-document.ts";

/** A field that accepts text: a parameter, or a field of the body with dots between an object and its fields. */
export type StringField = { place: "path" | "query" | "body"; name: string };

/** Returns every field of an operation's input that accepts text. */
export function stringFields(document: OpenapiJson, operation: DocumentedOperation): StringField[] {
	const parameters = operation.parameters.map(({ name, in: place }) => ({ place, name }));
	const inBody = operation.body ? textPaths(document, operation.body) : [];
	return [...parameters, ...inBody.map((path) => ({ place: "body" as const, name: path.join(".") }))];
}

function textPaths(document: OpenapiJson, reference: JsonSchema): string[][] {
	const schema = resolveSchema(document, reference);
	const options = schema.anyOf ?? schema.oneOf;
	const paths = options
		? options.flatMap((option) => textPaths(document, option))
		: [
				...([schema.type].flat().includes("string") ? [[]] : []),
				...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
					textPaths(document, field).map((path) => [name, ...path]),
				),
			];
	return [...new Map(paths.map((path) => [path.join("."), path])).values()];
}

/** Returns the draft with this text in the field. */
export function withText(draft: Draft, { place, name }: StringField, text: string): Draft {
	const twisted = { ...draft, twist: `${place} ${name} is ${JSON.stringify(text).slice(0, 60)}` };
	if (place === "query") {
		const others = draft.query.filter((pair) => !pair.startsWith(`${name}=`));
		return { ...twisted, query: [...others, `${name}=${encodeURIComponent(text)}`] };
	}
	if (place === "path") {
		const names = draft.operation.path.split("/");
		const segments = draft.path.split("/");
		return {
			...twisted,
			path: segments.with(names.indexOf(`{${name}}`), encodeURIComponent(text)).join("/"),
		};
	}
	const fields = draft.body && !Buffer.isBuffer(draft.body) ? draft.body.json : {};
	return { ...twisted, body: { json: withField(fields, name.split("."), text) } };
}

function withField(value: unknown, [name, ...inner]: string[], text: string): unknown {
	if (name === undefined) return text;
	const fields = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
	return { ...fields, [name]: withField(fields[name], inner, text) };
}
