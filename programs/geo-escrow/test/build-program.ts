import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Builds the crate of a folder to a program file. */
export function buildProgram(source: string, out: string): void {
	const build = join(import.meta.dirname, "../build.ts");
	execFileSync(process.execPath, [build, "--source", source, "--out", out], { stdio: "pipe" });
}
