import { readFileSync } from "node:fs";
import * as z from "zod";
import { ConfigError } from "./config-error.ts";
import { maskUrls } from "./mask-url.ts";

/** Reads and validates a JSON file. Throws a message that an operator can act on. */
export function parseJsonFile<Schema extends z.ZodType>(schema: Schema, path: string): z.output<Schema> {
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(path, "utf8"));
	} catch (error) {
		// The parser quotes the text around its error, which may contain an endpoint's key.
		const { message } = error as Error;
		throw new ConfigError(
			path,
			message.replace(/, (\.{3})?".*"(\.{3})? is not valid JSON$/s, ": it is not JSON"),
		);
	}
	const result = schema.safeParse(json);
	if (!result.success) throw new ConfigError(path, maskUrls(z.prettifyError(result.error)));
	return result.data;
}
