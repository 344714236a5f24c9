import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const programs: Record<string, string> = {
	geoswapd: "../apps/server/src/main.ts",
	"geoswap-signer": "../apps/signer/src/main.ts",
};
const shown = new Map<string, Promise<string>>();

/** Returns whether it is one of the service's own programs. */
export function isOwnProgram(name: string): boolean {
	return name in programs;
}

/** Returns the help of the command that the words begin with. Throws if the program has none of that name. */
export async function helpOf(words: readonly string[], program = "geoswapd"): Promise<string> {
	const names = words.slice(0, 2).filter((word) => /^[a-z][a-z-]*$/.test(word));
	const command = [program, ...names].join(" ");
	const help = shown.get(command) ?? readHelp(program, names);
	shown.set(command, help);
	const text = await help;
	// For an unknown name, the program prints the help of the group.
	if (!text.split("\n")[0]?.includes(command)) throw new Error(`there is no command ${command}`);
	return text;
}

async function readHelp(program: string, names: readonly string[]): Promise<string> {
	const main = join(import.meta.dirname, programs[program] ?? "");
	const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
	const { stdout } = await promisify(execFile)(process.execPath, [main, ...names, "--help"], { env });
	return stdout;
}
