import type fc from "fast-check";
import type { Draft } from "./draft-request.ts";

/** Drafts with one mistake. They are made lazily, because there are many, and each has a lot of values. */
export type Twist = () => fc.Arbitrary<Draft>;

/** Returns the draft with these values of the header; with none, the header is removed. */
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
