import { appendFileSync } from "node:fs";
import { join } from "node:path";

const files = new Map<string, string>();
const kept = new Set<string>();

/** From now on the bodies of what an API refuses are kept beside its logs, where they are searched for secrets. */
export function keepRefusals({ baseUrl, logDir }: { baseUrl: string; logDir: string }): void {
	files.set(baseUrl, join(logDir, `refusals-${process.pid}.jsonl`));
}

/** Keeps one body; of those that differ in nothing but the request's id, the first. */
export function keepRefusal(baseUrl: string, body: string): void {
	const file = files.get(baseUrl);
	const content = body.replace(/"requestId":"[^"]*"/, "");
	if (file === undefined || kept.has(content)) return;
	kept.add(content);
	appendFileSync(file, `${body}\n`);
}
