import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const files = globSync(".github/{workflows,actions}/**/*.{yml,yaml}", { cwd: root });

test.each(files)("%s names every action by a commit, with its version in a comment", (file) => {
	const lines = readFileSync(join(root, file), "utf8").split("\n");
	const uses = lines.filter((line) => /^[\s-]*["']?uses["']?\s*:/.test(line)).map((line) => line.trim());
	expect(uses.length).toBeGreaterThan(0);
	// A tag can be moved to other code, which would run with the permissions to publish; a commit cannot.
	for (const line of uses) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
