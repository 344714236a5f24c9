import type { Serde } from "@restatedev/restate-sdk";

/** How step results are journalled: readable JSON that gives back bigints, dates and undefined as they were. */
export const journalSerde: Serde<unknown> = {
	contentType: "application/json",
	serialize: (value) => new TextEncoder().encode(JSON.stringify(toJson(value))),
	deserialize: (bytes) => fromJson(JSON.parse(new TextDecoder().decode(bytes))),
};

const tag = "$type";

function toJson(value: unknown): unknown {
	if (typeof value === "bigint") return { [tag]: "bigint", value: String(value) };
	if (value === undefined) return { [tag]: "undefined" };
	if (value instanceof Date) return { [tag]: "date", value: value.toISOString() };
	if (Array.isArray(value)) return value.map(toJson);
	if (typeof value !== "object" || value === null) return value;
	const fields = Object.entries(value).map(([name, field]) => [name, toJson(field)]);
	return Object.hasOwn(value, tag) ? { [tag]: "object", value: fields } : Object.fromEntries(fields);
}

function fromJson(json: unknown): unknown {
	if (Array.isArray(json)) return json.map(fromJson);
	if (typeof json !== "object" || json === null) return json;
	if (!Object.hasOwn(json, tag)) return fieldsFromJson(Object.entries(json));
	const { [tag]: type, value } = json as { [tag]: string; value: string | [string, unknown][] };
	if (type === "bigint") return BigInt(value as string);
	if (type === "date") return new Date(value as string);
	return type === "object" ? fieldsFromJson(value as [string, unknown][]) : undefined;
}

function fieldsFromJson(fields: [string, unknown][]): object {
	return Object.fromEntries(fields.map(([name, field]) => [name, fromJson(field)]));
}
