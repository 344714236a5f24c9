import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serverMain } from "@geoswap/devnet";

/** Puts `geoswapd` and other programs into a new folder, for the shell's path, and returns the folder. */
export function makeCommands(dataDir: string, programs: Record<string, string> = {}): string {
	const bin = join(dataDir, "bin");
	mkdirSync(bin, { recursive: true });
	const commands = {
		geoswapd: [process.execPath, serverMain],
		...Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, [path]])),
	};
	for (const [name, words] of Object.entries(commands)) {
		const file = join(bin, name);
		writeFileSync(file, `#!/bin/sh\nexec ${words.map((word) => `"${word}"`).join(" ")} "$@"\n`);
		chmodSync(file, 0o755);
	}
	return bin;
}
