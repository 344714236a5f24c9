import { expect, test } from "vitest";
import { checkName } from "./check-name.ts";

test.each(["a", "an agent", "Über Größe №1", "ops+swaps@example.com", "x".repeat(64)])(
	"%j is a name",
	(name) => {
		expect(checkName("--account", name)).toBe(name);
	},
);

test.each([
	["nothing", ""],
	["too long", "x".repeat(65)],
	["space at the start", " a"],
	["space at the end", "a "],
	["two spaces", "a  b"],
	["a line's end", "a\nb"],
	["an escape", "a\u001b[31mb"],
	["what cannot be seen", "a\u200bb"],
	["what turns the text around", "a\u202eb"],
	["another kind of space", "a\u00a0b"],
	["letters in another form", "u\u0308"],
])("a name with %s is refused", (_, name) => {
	expect(() => checkName("--account", name)).toThrow("--account: must be");
});
