import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { printable } from "./printable.ts";
import { shellCommand } from "./shell-command.ts";

const word = fc.string({
	minLength: 1,
	unit: fc.oneof(
		fc.constantFrom("'", '"', "\\", "$(id)", "`id`", ";", "&", "|", ">", "!", "*", "~", "#", " ", "\n", "-"),
		fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }),
	),
});

test.each(["sh", "bash"])(
	"%s reads the same words back from the printed command, which is one line",
	(shell) => {
		const words = fc.sample(word, 500);
		const command = shellCommand("printf", "%s\\0", ...words);
		expect(command).not.toContain("\n");
		const read = execFileSync(shell, ["-c", command], { encoding: "utf8" }).split("\0").slice(0, -1);
		expect(read).toEqual(words.map(printable));
	},
);
