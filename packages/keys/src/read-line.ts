import { readFileSync } from "node:fs";
import { ConfigError } from "./config/config-error.ts";

/** Returns a password or PIN that has a separate file. The newline that editors add is not part of it. */
export function readLine(path: string): string {
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		throw new ConfigError(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
	}
	const line = text.replace(/\r?\n$/, "");
	if (!line) throw new ConfigError(path, "is empty");
	return line;
}
