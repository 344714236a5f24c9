import fc from "fast-check";
import { expect, test } from "vitest";
import { journalSerde } from "./journal-serde.ts";

const value = fc.letrec((tie) => ({
	value: fc.oneof(
		{ maxDepth: 4 },
		fc.bigInt(),
		fc.string(),
		fc.boolean(),
		fc.integer(),
		fc.constant(undefined),
		fc.constant(null),
		fc.date({ noInvalidDate: true }),
		fc.array(tie("value")),
		fc.dictionary(fc.oneof(fc.string(), fc.constant("$type")), tie("value"), { noNullPrototype: true }),
	),
})).value;

test("what a step returned is what a replay gets, bigints, dates and undefined included", () => {
	fc.assert(
		fc.property(value, (before) => {
			expect(journalSerde.deserialize(journalSerde.serialize(before))).toStrictEqual(before);
		}),
	);
});
