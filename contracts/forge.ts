#!/usr/bin/env node
// Runs forge and exits with forge's exit code. The npm package's own command exits with 0 even when tests fail.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { foundryBinary } from "./foundry-binary.ts";

export const contracts = import.meta.dirname;

export function forgeBinary(): string {
	return foundryBinary("forge", import.meta.url);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const child = spawn(forgeBinary(), process.argv.slice(2), { cwd: contracts, stdio: "inherit" });
	child.on("exit", (code, signal) => {
		process.exitCode = signal === null ? code : 1;
	});
}
