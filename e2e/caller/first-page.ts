import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Returns the code blocks of README.md, in order. */
export function readmeBlocks(): { language: string; code: string }[] {
	const text = readFileSync(join(root, "README.md"), "utf8");
	return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
		language,
		code,
	}));
}
