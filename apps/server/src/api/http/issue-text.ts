import type * as z from "zod";

/** The words that errors use for the schema library's types. */
const typeTexts: Record<string, string> = {
	string: "a string",
	number: "a number",
	int: "a whole number",
	bigint: "a whole number",
	boolean: "true or false",
	object: "an object",
	record: "an object",
	array: "a list",
	null: "null",
};

/** Says what is wrong with a value in our own words: a caller never reads those of the schema library. */
export function issueText(issue: z.core.$ZodRawIssue): string {
	switch (issue.code) {
		case "invalid_type":
			return mustBe([issue.expected]);
		case "too_small":
			return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`;
		case "too_big":
			return issue.origin === "string"
				? `must have at most ${issue.maximum} characters`
				: `must be at most ${issue.maximum}`;
		case "not_multiple_of":
			return `must be a multiple of ${issue.divisor}`;
		case "invalid_value":
			return `must be one of: ${issue.values.map(String).join(", ")}`;
		case "unrecognized_keys":
			return "unknown field";
		default:
			return "does not have the format of this field";
	}
}

/** Returns a text such as "must be a string or a whole number". */
export function mustBe(types: readonly string[]): string {
	const texts = new Set(types.map((type) => typeTexts[type] ?? "of another type"));
	return `must be ${[...texts].join(" or ")}`;
}
