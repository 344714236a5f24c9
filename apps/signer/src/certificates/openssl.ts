import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Ten years, because a new authority means a new certificate for every client and signer. */
export const authorityDays = "3650";

/** Runs openssl with these arguments. Throws its error output if it fails. */
export async function openssl(...parts: string[][]): Promise<void> {
	try {
		await run("openssl", parts.flat());
	} catch (error) {
		const { code, stderr } = error as { code?: string; stderr?: string };
		if (code === "ENOENT")
			throw new Error("openssl is not installed: install it, then run the command again");
		throw new Error(`openssl failed: ${stderr?.trim()}`);
	}
}
