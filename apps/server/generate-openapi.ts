// Writes docs/openapi.json, which GET /openapi.json serves. It is committed, so that a change of the interface shows in
// its diff.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { openapiText } from "./test/api/openapi-text.ts";

const usage = `Usage: node apps/server/generate-openapi.ts [--check] [--json]

Writes docs/openapi.json, the document of the interface, from the routes.

  --check  write nothing; exit 1 if the committed file is stale
  --json   print the result as JSON`;

const { values: options } = parseArgs({
	options: { check: { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (options.help) {
	console.log(usage);
	process.exit(0);
}

const root = join(import.meta.dirname, "../..");
const path = join(root, "docs/openapi.json");
const text = await openapiText();
const isStale = readIfThere() !== text;
if (isStale && !options.check) writeFileSync(path, text);
const name = relative(root, path);
if (options.json) console.log(JSON.stringify({ file: name, isStale }));
else if (!isStale) console.log(`${name} is up to date`);
else if (options.check) console.error(`stale, run \`pnpm generate\`:\n${name}`);
else console.log(`written:\n${name}`);
process.exit(options.check && isStale ? 1 : 0);

function readIfThere(): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}
