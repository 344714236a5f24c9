import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The program's errors by name, read from its source. */
export const errorCodes: ReadonlyMap<string, number> = new Map(
	[
		...readFileSync(join(import.meta.dirname, "../src/lib.rs"), "utf8").matchAll(/^ {4}(\w+) = (\d+),$/gm),
	].map(([, name = "", code]) => [name, Number(code)]),
);
