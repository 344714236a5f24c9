import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const main = join(import.meta.dirname, "../apps/server/src/main.ts");
const shown = new Map<string, Promise<string>>();

/** Returns the help of the command of `geoswapd` that the words begin with. Throws if there is none of that name. */
export async function helpOf(words: readonly string[]): Promise<string> {
	const names = words.slice(0, 2).filter((word) => /^[a-z][a-z-]*$/.test(word));
	const command = names.join(" ");
	const help = shown.get(command) ?? readHelp(names);
	shown.set(command, help);
	const text = await help;
	// For an unknown name, the program prints the help of the group.
	if (!text.split("\n")[0]?.includes(`geoswapd ${command}`)) throw new Error(`geoswapd has no ${command}`);
	return text;
}

async function readHelp(names: readonly string[]): Promise<string> {
	const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
	const { stdout } = await promisify(execFile)(process.execPath, [main, ...names, "--help"], { env });
	return stdout;
}
