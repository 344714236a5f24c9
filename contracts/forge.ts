#!/usr/bin/env node
// Runs forge and ends as forge ends. The npm package's own command exits with 0 even when tests fail.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const contracts = import.meta.dirname;

/** The binary of this platform, which the package depends on. */
export function forgeBinary(): string {
	const from = realpathSync(join(contracts, "node_modules/@foundry-rs/forge/package.json"));
	const architecture = process.arch === "x64" ? "amd64" : process.arch;
	return createRequire(from).resolve(`@foundry-rs/forge-${process.platform}-${architecture}/bin/forge`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const child = spawn(forgeBinary(), process.argv.slice(2), { cwd: contracts, stdio: "inherit" });
	child.on("exit", (code, signal) => {
		process.exitCode = signal === null ? code : 1;
	});
}
