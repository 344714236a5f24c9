import { SwapError } from "@geoswap/protocol";
import * as z from "zod";

type Issue = { path: string; message: string };

/**
 * Enough issues to fix a request. A body has room for thousands of unknown names, and reporting all of them would
 * cost time.
 */
const maxIssues = 20;
/**
 * Longer than any field name of this API. A secret sent in place of a name is neither returned in full nor logged.
 */
const maxNameLength = 64;

/**
 * Returns the parsed value of a body or a query. Throws INVALID_REQUEST with its first issues. If a field is missing or
 * unknown, the error also lists the accepted fields and the one that may have been meant.
 */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
	const result = schema.safeParse(value, { error: issueText });
	if (result.success) return result.data;
	const fields: object = typeof value === "object" && value !== null ? value : {};
	const isMissing = ({ path: [field] }: z.core.$ZodIssue) =>
		field !== undefined && !Object.hasOwn(fields, field);
	const issues = firstOf(
		result.error.issues.flatMap((issue) =>
			isMissing(issue)
				? [{ path: issue.path.map(String).join("."), message: "required" }]
				: toIssues(issue, []),
		),
	);
	const isNameWrong = result.error.issues.some(
		(issue) => issue.code === "unrecognized_keys" || isMissing(issue),
	);
	if (!(schema instanceof z.ZodObject) || !isNameWrong) throw new SwapError("INVALID_REQUEST", { issues });
	const accepted = Object.keys(schema.shape);
	const unknown = Object.keys(fields).filter((name) => !accepted.includes(name));
	const didYouMean = unknown.slice(0, maxIssues).flatMap((name) => {
		if (name.length > maxNameLength) return [];
		const meant = closest(name, accepted);
		return meant ? [[name, meant]] : [];
	});
	throw new SwapError("INVALID_REQUEST", {
		issues,
		accepted,
		...(didYouMean.length > 0 && { didYouMean: Object.fromEntries(didYouMean) }),
	});
}

/** Returns the first issues without duplicates, since two checks of a field may report the same. */
function firstOf(issues: Issue[]): Issue[] {
	const said = new Map(issues.map((issue) => [JSON.stringify([issue.path, issue.message]), issue]));
	return [...said.values()].slice(0, maxIssues);
}

function toIssues(issue: z.core.$ZodIssue, parents: PropertyKey[]): Issue[] {
	const path = [...parents, ...issue.path];
	if (issue.code === "unrecognized_keys") {
		return issue.keys.slice(0, maxIssues).map((key) => ({
			path: [...path, shortened(key)].map(String).join("."),
			message: "unknown field",
		}));
	}
	if (issue.code === "invalid_union") {
		// The branch that accepted the value's type has the most specific issues.
		const branch = issue.errors.find((errors) => errors.some(({ code }) => code !== "invalid_type"));
		if (branch) return branch.flatMap((inner) => toIssues(inner, path));
		const expected = issue.errors.flatMap(([first]) =>
			first?.code === "invalid_type" ? [first.expected] : [],
		);
		if (expected.length > 0) {
			return [{ path: path.map(String).join("."), message: mustBe(expected) }];
		}
	}
	return [{ path: path.map(String).join("."), message: issue.message }];
}

/** Shortens a name that a caller sent, for display. */
export function shortened(name: string): string {
	return name.length > maxNameLength ? `${name.slice(0, maxNameLength / 2)}…` : name;
}

function closest(name: string, accepted: string[]): string | undefined {
	const [best] = accepted
		.map((candidate) => ({
			candidate,
			distance: editDistance(name.toLowerCase(), candidate.toLowerCase()),
		}))
		.sort((a, b) => a.distance - b.distance);
	return best && best.distance <= Math.max(name.length, best.candidate.length) / 3
		? best.candidate
		: undefined;
}

/** Returns how many characters must be inserted, deleted or replaced to turn one text into the other. */
function editDistance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, i) => i);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			next.push(
				Math.min(
					(row[j] ?? 0) + 1,
					(next[j - 1] ?? 0) + 1,
					(row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
				),
			);
		}
		row = next;
	}
	return row[b.length] ?? 0;
}

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

/** Describes what is wrong with a value in our own words, so that callers never get the schema library's texts. */
function issueText(issue: z.core.$ZodRawIssue): string {
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
function mustBe(types: readonly string[]): string {
	const texts = new Set(types.map((type) => typeTexts[type] ?? "of another type"));
	return `must be ${[...texts].join(" or ")}`;
}
