import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Runs a line of a shell as a page writes it, and returns what it prints; if that is a failure, also its errors. Throws if
 * it exits with another code, or uses a variable without a value.
 */
export async function runShell(
	command: string,
	{ env, exitCode = 0 }: { env: Record<string, string>; exitCode?: number | undefined },
): Promise<string> {
	const { code, output } = await promisify(execFile)(
		"bash",
		["--norc", "-u", "-o", "pipefail", "-c", command],
		{ env },
	).then(
		({ stdout }) => ({ code: 0, output: stdout }),
		(error: { code: number; stdout: string; stderr: string }) => ({
			code: error.code,
			output: `${error.stdout}${error.stderr}`,
		}),
	);
	if (code !== exitCode) throw new Error(`\`${command}\` exited with ${code}: ${output}`);
	return output;
}
