import fc from "fast-check";
import { bodyTwists } from "./body-twists.ts";
import { type Draft, keyPlace } from "./draft-request.ts";
import type { OpenapiJson } from "./interface-document.ts";
import { type Twist, withHeader } from "./twist.ts";
import { wireTwists } from "./wire-twists.ts";

/** Generates a valid request with one mistake. */
export function nearlyValid(document: OpenapiJson, valid: fc.Arbitrary<Draft>): fc.Arbitrary<Draft> {
	return valid.chain((draft) =>
		fc
			.constantFrom<Twist>(
				...(draft.body ? bodyTwists(document, draft) : []),
				...(draft.operation.needsKey ? [() => keyTwist(draft)] : []),
				...(draft.query.length > 0 ? [() => queryTwist(draft)] : []),
				...wireTwists(draft),
			)
			.chain((twist) => twist())
			.map((twisted): Draft => ({ ...twisted, class: "nearly valid" })),
	);
}

function keyTwist(draft: Draft): fc.Arbitrary<Draft> {
	return fc
		.constantFrom<string[]>(
			[],
			[""],
			["x"],
			[keyPlace, keyPlace],
			[`${keyPlace}x`],
			[`${keyPlace}, ${keyPlace}`],
			[`Bearer ${keyPlace}`],
			["gsk_".padEnd(64, "0")],
			["\u00e9".repeat(60)],
			["' or 1=1 --"],
			["x".repeat(8_000)],
		)
		.map((keys) => withHeader(draft, "x-api-key", keys));
}

function queryTwist(draft: Draft): fc.Arbitrary<Draft> {
	const { query } = draft;
	const [first = ""] = query;
	const [name = ""] = first.split("=");
	const others = query.slice(1);
	return fc
		.constantFrom<string[]>(
			[...query, first],
			[...query, `${name}=2`],
			others,
			[...others, name],
			[...others, `${name}=`],
			[...others, `${name}[]=1`, `${name}[a]=1`],
			[...others, `${name.toUpperCase()}=1`],
			[...others, `${first}%00`],
			[...others, `${first}%zz`],
			[...others, `${first}%`],
			[...others, `${first}+`],
			[...others, `+${first}`],
			[...others, `${first}%20`],
			[...others, `${first}%ff%fe`],
			[...others, `%${first}`],
			[...others, `${name}=0`],
			[...others, `${name}=-1`],
			[...others, `${name}=1e3`],
			[...others, `${name}=9007199254740993`],
			[...others, `${name}=${"1".repeat(4_000)}`],
			[...query, "__proto__=1", "constructor=2"],
			[...query, "&&&&=&=&?x=?"],
			[...query, "x=1;y=2#fragment"],
			[...query, ...Array.from({ length: 500 }, (_, i) => `a${i}=${i}`)],
		)
		.map((twisted) => ({ ...draft, twist: "query", query: twisted }));
}
