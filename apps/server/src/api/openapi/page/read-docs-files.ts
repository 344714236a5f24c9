import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, errorCodes } from "@geoswap/protocol";

/** The pages served besides the guide, without their file extension. */
export const guidePages = ["signing", "receipts", "rescue", "conformance"];

const folder = join(import.meta.dirname, "../../../../../../docs");

/** Returns the pages of docs/ that are served, as they are on disk. Throws if one is missing. */
export function readDocsFiles(): {
	guide: string;
	/** Pages that the guide links to. */
	others: Map<string, string>;
	errors: Map<ErrorCode, string>;
} {
	return {
		guide: read("api.md"),
		others: new Map(guidePages.map((name) => [name, read(`${name}.md`)])),
		errors: new Map(errorCodes.map((code) => [code, read(`errors/${code}.md`)])),
	};
}

function read(name: string): string {
	return readFileSync(join(folder, name), "utf8");
}
