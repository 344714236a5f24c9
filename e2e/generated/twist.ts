import type fc from "fast-check";
import type { Draft } from "./draft-request.ts";

/** Drafts with one thing wrong. Made when it is its turn: there are many, and each is a lot of values. */
export type Twist = () => fc.Arbitrary<Draft>;

/** The header with these values, or without it. */
export function withHeader(draft: Draft, name: string, values: string[]): Draft {
	return {
		...draft,
		twist: `${name}: ${JSON.stringify(values).slice(0, 60)}`,
		headers: [
			...draft.headers.filter(([existing]) => existing !== name),
			...values.map((value): [string, string] => [name, value]),
		],
	};
}
