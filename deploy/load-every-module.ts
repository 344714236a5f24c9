// Loads every module of a program once, and the pages that the server serves. deploy/Dockerfile runs it, so that a file
// that the image lacks fails the build and not a command later, and Node keeps the compiled code in NODE_COMPILE_CACHE.
//   node deploy/load-every-module.ts server|signer
import { globSync } from "node:fs";
import { join } from "node:path";

const [name = "server"] = process.argv.slice(2);
/** Modules that do their work when they are loaded. Their own imports are all loaded here too. */
const programs = ["main.ts", "backend/pkcs11/pkcs11-process.ts"];

for (const folder of [`apps/${name}/src`, "packages/keys/src"]) {
	const root = join(import.meta.dirname, "..", folder);
	for (const file of globSync("**/*.ts", { cwd: root })) {
		if (!programs.includes(file) && !file.endsWith(".test.ts")) await import(join(root, file));
	}
}
if (name === "server") {
	const { readDocsFiles } = await import("../apps/server/src/api/openapi/page/read-docs-files.ts");
	readDocsFiles();
}
