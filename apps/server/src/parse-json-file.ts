import { readFileSync } from "node:fs";
import * as z from "zod";
import { ConfigError } from "./config-error.ts";

/** What a file of JSON holds, checked. Throws a message that a person can act on. */
export function parseJsonFile<Schema extends z.ZodType>(schema: Schema, path: string): z.output<Schema> {
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(path, "utf8"));
	} catch (error) {
		throw new ConfigError(path, (error as Error).message);
	}
	const result = schema.safeParse(json);
	if (!result.success) throw new ConfigError(path, z.prettifyError(result.error));
	return result.data;
}
