import fc from "fast-check";
import { arbitraryOf } from "./arbitrary-of.ts";
import type { Draft } from "./draft-request.ts";
import { type OpenapiJson, resolveSchema } from "./interface-document.ts";
import { type Twist, withHeader } from "./twist.ts";
import { wrongValue } from "./wrong-value.ts";

const bodyLimit = 32 * 1024;

type Fields = Record<string, unknown>;

/** Returns mistakes in a body: in one of its fields, its JSON, its bytes or its type. */
export function bodyTwists(document: OpenapiJson, draft: Draft): Twist[] {
	const fields = fieldsOf(draft);
	return [
		...fieldTwists(document, draft, fields),
		...jsonTwists(draft, JSON.stringify(fields)),
		...contentTypeTwists(draft),
	];
}

function fieldTwists(document: OpenapiJson, draft: Draft, fields: Fields): Twist[] {
	const { properties = {} } = resolveSchema(document, draft.operation.body ?? {});
	// A body without fields has none to get wrong.
	if (Object.keys(properties).length === 0) return [];
	const { authorization } = properties;
	const text = JSON.stringify(fields);
	const withFields = (twist: string, json: Fields): Draft => ({ ...draft, twist, body: { json } });
	const withText = (twist: string, json: string): Draft => ({ ...draft, twist, body: Buffer.from(json) });
	const named = fc.constantFrom(...Object.keys(properties));
	const wrongField: Twist = () =>
		named.chain((name) =>
			wrongValue(resolveSchema(document, properties[name] ?? {}), fields[name]).map((value) =>
				withFields(`${name} is ${describe(value)}`, { ...fields, [name]: value }),
			),
		);
	return [
		...Array<Twist>(8).fill(wrongField),
		() => named.map((name) => withFields(`${name} is missing`, without(fields, name))),
		() =>
			named.map((name) =>
				withFields(`${name} in capitals`, { ...without(fields, name), [name.toUpperCase()]: fields[name] }),
			),
		() =>
			fc
				.constantFrom("slipageBps", "__proto__", "constructor", "prototype", "toString", "", "a.b", "é")
				.map((name) => withText(`a field "${name}"`, `{${JSON.stringify(name)}:{"a":1},${text.slice(1)}`)),
		() => named.map((name) => withText(`${name} twice`, `{${JSON.stringify(name)}:1,${text.slice(1)}`)),
		() =>
			fc.tuple(named, fc.constantFrom("[]", '{"a":}')).map(([name, shape]) => {
				const nested = `${shape.slice(0, -1).repeat(1_000)}1${shape.slice(-1).repeat(1_000)}`;
				return withText(`${name} a thousand deep`, `{"x":1,${JSON.stringify(name)}:${nested}}`);
			}),
		...(authorization
			? [
					() =>
						arbitraryOf(document, authorization).map((value) =>
							withFields("an authorization as the schema allows", { ...fields, authorization: value }),
						),
					() => wrongAuthorization(document, draft, fields),
					() =>
						othersAuthorization.map((value) =>
							withFields("another's authorization", { ...fields, authorization: value }),
						),
				]
			: []),
	];
}

/** An authorization of the right form. */
const othersAuthorization = fc.record({
	chainId: fc.constantFrom(0, 1, "31337", "0x1"),
	address: fc.constantFrom("0x1111111111111111111111111111111111111111"),
	nonce: fc.constantFrom(0, 1, "0x2"),
	yParity: fc.constantFrom(0, 1, "0x1"),
	r: fc.constantFrom("0x1", "11".repeat(32)),
	s: fc.constantFrom("0x1", "11".repeat(32)),
});

function wrongAuthorization(document: OpenapiJson, draft: Draft, fields: Fields): fc.Arbitrary<Draft> {
	const { properties = {} } = resolveSchema(document, draft.operation.body ?? {});
	return fc
		.tuple(
			arbitraryOf(document, properties.authorization ?? {}),
			fc.constantFrom("chainId", "address", "nonce", "yParity", "r", "s"),
		)
		.chain(([value, name]) => {
			const authorization = typeof value === "object" ? { ...(value as Fields) } : {};
			return wrongValue({}, authorization[name]).map((wrong) => ({
				...draft,
				twist: `authorization.${name} is ${describe(wrong)}`,
				body: { json: { ...fields, authorization: { ...authorization, [name]: wrong } } },
			}));
		});
}

function jsonTwists(draft: Draft, text: string): Twist[] {
	const withBytes = (twist: string, body: string | Buffer): Draft => ({
		...draft,
		twist,
		body: Buffer.from(body),
	});
	return [
		() => fc.nat({ max: text.length - 1 }).map((end) => withBytes("cut off", text.slice(0, end))),
		() =>
			fc
				.constantFrom("\ufeff", "\u00a0", "//\n", ",", "[", "\u0000", '{"a":1}')
				.map((before) => withBytes(`${JSON.stringify(before)} in front`, before + text)),
		() =>
			fc
				.constantFrom(",", "}", "\u0000", "{}", " ", "\n\n")
				.map((after) => withBytes(`${JSON.stringify(after)} behind`, text + after)),
		() =>
			fc
				.constantFrom(bodyLimit - 1, bodyLimit, bodyLimit + 1)
				.map((size) => withBytes(`${size} bytes`, text.padEnd(size))),
		() =>
			fc.constantFrom([0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x80, 0x80, 0xaf]).map((bytes) => {
				const parts = [Buffer.from(`{"x":"`), Buffer.from(bytes), Buffer.from(`",${text.slice(1)}`)];
				return withBytes("not UTF-8", Buffer.concat(parts));
			}),
		() =>
			fc
				.constantFrom("", "null", "[]", "1", '"{}"', "true", "[{}]", "NaN", "{'a':1}", "-0", "1e400")
				.map((body) => withBytes(`only ${body}`, body)),
		() =>
			fc
				.constantFrom("utf16le" as const, "latin1" as const)
				.map((encoding) => withBytes(`in ${encoding}`, Buffer.from(`{"x":"é",${text.slice(1)}`, encoding))),
	];
}

function contentTypeTwists(draft: Draft): Twist[] {
	return [
		() =>
			fc
				.constantFrom(
					"application/json; charset=utf-8",
					"APPLICATION/JSON",
					"application/json;charset=utf-16",
					'application/json; a="b;c"',
					"application/json;",
					"application/json, text/plain",
					"application/jsonp",
					"application/x-json",
					"application/problem+json",
					"text/json",
					"json",
					"",
					"/",
					";",
					"multipart/form-data; boundary=x",
					"application/x-www-form-urlencoded",
					"application/json\u00e9",
					"application/json; charset=\u00ff",
					"x".repeat(3_000),
				)
				.map((type) => withHeader(draft, "content-type", [type])),
		() => fc.constant(withHeader(draft, "content-type", [])),
		() => fc.constant(withHeader(draft, "content-type", ["application/json", "text/plain"])),
		() =>
			fc
				.constantFrom("gzip", "identity", "br", "x")
				.map((value) => withHeader(draft, "content-encoding", [value])),
	];
}

function fieldsOf({ body }: Draft): Fields {
	return body && !Buffer.isBuffer(body) ? (body.json as Fields) : {};
}

function without(fields: Fields, name: string): Fields {
	return Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name));
}

function describe(value: unknown): string {
	return (JSON.stringify(value) ?? "absent").slice(0, 60);
}
