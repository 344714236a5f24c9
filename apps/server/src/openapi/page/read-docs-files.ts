import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, errorCodes } from "@geoswap/protocol";

const folder = join(import.meta.dirname, "../../../../../docs");

/** The pages of docs/ that are served, as they are on disk. Throws where one is missing. */
export function readDocsFiles(): { guide: string; errors: Map<ErrorCode, string> } {
	return {
		guide: read("api.md"),
		errors: new Map(errorCodes.map((code) => [code, read(`errors/${code}.md`)])),
	};
}

function read(name: string): string {
	return readFileSync(join(folder, name), "utf8");
}
