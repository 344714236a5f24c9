import { appendFileSync } from "node:fs";
import { join } from "node:path";

const files = new Map<string, string>();
const kept = new Set<string>();

/** Keeps from now on the bodies of an API's refusals beside its logs, which are searched for secrets. */
export function keepRefusals({ baseUrl, logDir }: { baseUrl: string; logDir: string }): void {
	files.set(baseUrl, join(logDir, `refusals-${process.pid}.jsonl`));
}

/** Keeps one body, and only the first of those that differ in the request's id alone. */
export function keepRefusal(baseUrl: string, body: string): void {
	const file = files.get(baseUrl);
	const content = body.replace(/"requestId":"[^"]*"/, "");
	if (file === undefined || kept.has(content)) return;
	kept.add(content);
	appendFileSync(file, `${body}\n`);
}
