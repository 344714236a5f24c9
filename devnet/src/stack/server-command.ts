import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

export const serverMain = join(import.meta.dirname, "../../../apps/server/src/main.ts");

/**
 * Returns the environment of every server process. Six processes load the same code, and with a compile cache they
 * start twice as fast.
 */
export function baseEnvironment(): Record<string, string> {
	return {
		PATH: process.env.PATH ?? "",
		HOME: process.env.HOME ?? "",
		NODE_COMPILE_CACHE: join(import.meta.dirname, "../../../node_modules/.cache/geoswap-compiled"),
	};
}

/** Runs one of the server's commands to its end and returns its output. Throws if it exits with another code. */
export async function serverCommand(
	environment: Record<string, string>,
	args: string[],
	{ exitCode = 0 }: { exitCode?: number } = {},
): Promise<string> {
	try {
		const { stdout } = await promisify(execFile)(process.execPath, [serverMain, ...args], {
			env: environment,
		});
		if (exitCode !== 0) throw new Error(`it exited with 0: ${stdout}`);
		return stdout;
	} catch (error) {
		const { code, stderr, stdout, message } = error as Error & {
			code?: number;
			stderr?: string;
			stdout?: string;
		};
		if (code === exitCode && stdout !== undefined) return stdout;
		throw new Error(`geoswapd ${args[0]} failed: ${stderr?.trim() || stdout?.trim() || message}`);
	}
}

/** Creates a key for an account, which is created if none has that name. */
export async function createApiKey(environment: Record<string, string>, account: string): Promise<string> {
	const { apiKey } = JSON.parse(
		await serverCommand(environment, ["keys", "create", "--account", account, "--json"]),
	);
	return apiKey;
}
