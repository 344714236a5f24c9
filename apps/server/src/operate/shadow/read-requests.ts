import { readFileSync } from "node:fs";
import { type Milliseconds, quoteRequestSchema } from "@geoswap/protocol";
import * as z from "zod";
import { ConfigError } from "../../config/config-error.ts";
import type { TimedRequest } from "./generate-requests.ts";

const lineSchema = z.strictObject({
	/** When the request was made. Only the time since the first line counts. */
	at: z.iso.datetime({ offset: true }),
	request: quoteRequestSchema,
});

/**
 * Reads requests from a file with a JSON object on each line. The first is made at `startMs`, and the others keep
 * their distance in time. Throws a message with the number of the first invalid line.
 */
export function readRequests(path: string, { startMs }: { startMs: Milliseconds }): TimedRequest[] {
	const lines = readFileSync(path, "utf8").split("\n");
	const read = lines.flatMap((text, i) => {
		if (text.trim() === "") return [];
		const parsed = lineSchema.safeParse(parseJson(text));
		if (parsed.success) return [{ atMs: Date.parse(parsed.data.at), request: parsed.data.request }];
		const [issue] = parsed.error.issues;
		const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
		throw new ConfigError(path, `line ${i + 1}: ${where}${issue?.message ?? "is not valid"}`);
	});
	const sorted = read.toSorted((a, b) => a.atMs - b.atMs);
	const first = sorted[0]?.atMs ?? 0;
	return sorted.map(({ atMs, request }) => ({ atMs: startMs + atMs - first, request: () => request }));
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
