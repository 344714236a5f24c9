import fc from "fast-check";
import { expect, test } from "vitest";
import { printable, printableJson } from "./printable.ts";

/** Texts with characters that move the cursor, colour, ring, hide or reverse, among others. */
const text = fc.string({
	unit: fc.oneof(
		fc.constantFrom(
			"\u001b[2J",
			"\u009b31m",
			"\u0007",
			"\r",
			"\n",
			"\u202e",
			"\u2028",
			"\u{e0041}",
			"\\",
			'"',
		),
		fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
	),
});
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test("printable text has no invisible characters", () => {
	fc.assert(
		fc.property(text, (told) => {
			expect(printable(told)).not.toMatch(unseen);
		}),
		{ numRuns: 1_000 },
	);
	expect(printable("no\u001b[2J\u202eway\r\nhome")).toBe("no\\u001b[2J\\u202eway  home");
});

test("printable JSON has no invisible characters and parses to the same value", () => {
	fc.assert(
		// The texts are not keys, because V8 13.6 reads the key "\u0061" as "\\" after an object with the key "\\".
		fc.property(fc.array(text), (told) => {
			const shown = printableJson(JSON.stringify(told, null, 2));
			expect(shown.replaceAll("\n", "")).not.toMatch(unseen);
			expect(JSON.parse(shown)).toEqual(told);
		}),
		{ numRuns: 1_000 },
	);
});
