import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll } from "vitest";

export type RunningCommand = {
	child: ChildProcess & { stdout: Readable };
	finished: Promise<{ code: number | null | undefined; stdout: string; stderr: string }>;
	stdout: () => string;
	stderr: () => string;
};

/** Creates a folder for the tests of one file, and its command. Both end with the tests. */
export function commandsInFolder(main: string): {
	folder: string;
	command: (args: string[]) => RunningCommand;
} {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-command-"));
	const begun = new Set<ChildProcess>();
	afterAll(() => {
		for (const child of begun) child.kill("SIGKILL");
		rmSync(folder, { recursive: true });
	});
	return {
		folder,
		command: (args) => {
			const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
			begun.add(child);
			let stdout = "";
			let stderr = "";
			child.stdout.on("data", (chunk) => (stdout += chunk));
			child.stderr.on("data", (chunk) => (stderr += chunk));
			const finished = once(child, "close").then(([code]: (number | null)[]) => {
				begun.delete(child);
				return { code, stdout, stderr };
			});
			return { child, finished, stdout: () => stdout, stderr: () => stderr };
		},
	};
}
