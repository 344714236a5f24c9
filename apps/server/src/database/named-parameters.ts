import type { Part } from "./database.ts";

/** Statements with numbered parameters, and the names of these in their order, by the text with names. */
const numbered = new Map<string, { text: string; names: readonly string[] }>();

/**
 * Returns a query whose text names its parameters: `$chainId` is the value of `chainId`. They are numbered in the order
 * of `values`, so the text of a prepared statement is always the same. Throws if a name has no value, or a value is not
 * used. Texts are kept once they are numbered, so data belongs into `values` only.
 */
export function namedParameters(text: string, values: Readonly<Record<string, unknown>>): Part {
	const given = Object.keys(values);
	const statement = numbered.get(text) ?? number(text, given);
	const missing = statement.names.find((name) => !Object.hasOwn(values, name));
	if (missing !== undefined) throw new Error(`$${missing} has no value in the statement: ${text}`);
	if (given.length > statement.names.length) {
		const unused = given.find((name) => !statement.names.includes(name));
		throw new Error(`the statement does not use $${unused}: ${text}`);
	}
	return { text: statement.text, values: statement.names.map((name) => values[name]) };
}

function number(text: string, given: readonly string[]): { text: string; names: readonly string[] } {
	if (/\$\d/.test(text)) throw new Error(`the statement has a parameter without a name: ${text}`);
	const used = new Set(Array.from(text.matchAll(/\$([a-zA-Z]\w*)/g), ([, name = ""]) => name));
	const names = [...new Set([...given.filter((name) => used.has(name)), ...used])];
	const statement = {
		text: text.replaceAll(/\$([a-zA-Z]\w*)/g, (_, name) => `$${names.indexOf(name) + 1}`),
		names,
	};
	numbered.set(text, statement);
	return statement;
}
