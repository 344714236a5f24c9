import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { helpOf } from "./help-of.ts";

// An operator follows these pages command by command, with money, so every command and option on them must exist.

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = ["docs/go-live.md", "docs/shadow.md"];
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

/** Returns the commands in a page's shell blocks, each once. */
function commandsIn(page: string): string[] {
	const blocks = [...read(page).matchAll(/```sh\n([^`]*)```/g)].map(([, block = ""]) => block);
	const inline = [...read(page).matchAll(/`(geoswapd [a-z][^`]*)`/g)].map(([, command = ""]) => command);
	const lines = [...blocks.flatMap((block) => block.split("\n")), ...inline];
	return [...new Set(lines.map((line) => line.replace(/^(\w+=\S+ )+/, "").trim()))].filter(
		(line) => line !== "",
	);
}

test.each(pages)("every command of %s exists, with every option that the page passes", async (page) => {
	const commands = commandsIn(page);
	expect(commands.length).toBeGreaterThan(2);
	for (const command of commands) {
		const [program = "", ...words] = command.split(" ");
		if (program === "pnpm") expect(scripts, command).toHaveProperty(words[0] ?? "");
		else if (program !== "geoswapd") expect(read(program), command).toMatch(/^#!/);
		else {
			const shown = await helpOf(words);
			const options = words.filter((word) => word.startsWith("--"));
			for (const option of options) expect(shown, command).toContain(`${option} `);
		}
	}
});
