import { spawn } from "node:child_process";

/** Runs a command to its end and returns its output. Throws its error output if it fails. */
export function runCommand(
	command: readonly string[],
	{ env = {}, input }: { env?: Record<string, string>; input?: string } = {},
): Promise<string> {
	const [program = "", ...args] = command;
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, { env: { ...process.env, ...env } });
		let stdout = "";
		let all = "";
		child.stdout.on("data", (chunk) => {
			stdout += chunk;
			all += chunk;
		});
		child.stderr.on("data", (chunk) => {
			all += chunk;
		});
		child.once("error", reject);
		child.once("close", (code) => {
			if (code === 0) resolve(stdout);
			else reject(new Error(`${command.join(" ")} exited with ${code}: ${all.slice(-4_000)}`));
		});
		child.stdin.end(input);
	});
}
