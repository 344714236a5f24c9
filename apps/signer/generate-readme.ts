// Writes the list of files in apps/signer/README.md. It is committed, so that a change of what an audit must read is seen.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { withAuditedFiles } from "./with-audited-files.ts";

const usage = `Usage: node apps/signer/generate-readme.ts [--check] [--json]

Writes the files that the remote signer consists of, with their lines, into apps/signer/README.md.

  --check  write nothing; exit 1 if the committed file is stale
  --json   print the result as JSON`;

const { values: options } = parseArgs({
	options: { check: { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
if (options.help) {
	console.log(usage);
	process.exit(0);
}

const path = join(import.meta.dirname, "README.md");
const before = readFileSync(path, "utf8");
const text = withAuditedFiles(before);
const isStale = text !== before;
if (isStale && !options.check) writeFileSync(path, text);
const name = relative(join(import.meta.dirname, "../.."), path);
if (options.json) console.log(JSON.stringify({ file: name, isStale }));
else if (!isStale) console.log(`${name} is up to date`);
else if (options.check) console.error(`stale, run \`pnpm generate\`:\n${name}`);
else console.log(`written:\n${name}`);
process.exit(options.check && isStale ? 1 : 0);
