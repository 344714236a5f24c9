import { expect, test } from "vitest";
import { checkName } from "./check-name.ts";

test.each(["a", "an agent", "Über Größe №1", "ops+swaps@example.com", "x".repeat(64)])(
	"%j is a valid name",
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
	["a line break", "a\nb"],
	["an escape", "a\u001b[31mb"],
	["an invisible character", "a\u200bb"],
	["a direction mark", "a\u202eb"],
	["another kind of space", "a\u00a0b"],
	["a decomposed letter", "u\u0308"],
])("a name with %s is refused", (_, name) => {
	expect(() => checkName("--account", name)).toThrow("--account: must be");
});
