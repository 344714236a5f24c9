import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, errorCodes } from "@geoswap/protocol";

/** The pages for authors of agents that are served besides the guide, without their file extension. */
export const guidePages = [
	"agents",
	"sdk",
	"wallets",
	"cli",
	"mcp",
	"events",
	"signing",
	"receipts",
	"mandates",
	"trust",
	"rescue",
	"conformance",
];

const root = join(import.meta.dirname, "../../../../../..");

/** Returns the pages of docs/ that are served, as they are on disk, and the skill. Throws if one is missing. */
export function readDocsFiles(): {
	guide: string;
	/** Pages that the guide links to. */
	others: Map<string, string>;
	errors: Map<ErrorCode, string>;
	/** The list of pages by reader. It is not served itself. */
	contents: string;
	skill: string;
} {
	return {
		guide: read("docs/api.md"),
		others: new Map(guidePages.map((name) => [name, read(`docs/${name}.md`)])),
		errors: new Map(errorCodes.map((code) => [code, read(`docs/errors/${code}.md`)])),
		contents: read("docs/README.md"),
		skill: read("packages/cli/skills/geoswap/SKILL.md"),
	};
}

function read(name: string): string {
	return readFileSync(join(root, name), "utf8");
}
