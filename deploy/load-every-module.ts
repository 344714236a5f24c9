// Loads every module of the server once, and the pages that it serves. deploy/Dockerfile runs it, so that a file that
// the image lacks fails the build and not a command later, and Node keeps the compiled code in NODE_COMPILE_CACHE.
import { globSync } from "node:fs";
import { join } from "node:path";
import { readDocsFiles } from "../apps/server/src/api/openapi/page/read-docs-files.ts";

const server = join(import.meta.dirname, "../apps/server/src");
/** Modules that do their work when they are loaded. Their own imports are all loaded here too. */
const programs = ["main.ts", "signer/backend/pkcs11/pkcs11-process.ts"];

for (const file of globSync("**/*.ts", { cwd: server })) {
	if (!programs.includes(file) && !file.endsWith(".test.ts")) await import(join(server, file));
}
readDocsFiles();
