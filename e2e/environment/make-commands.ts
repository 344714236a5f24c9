import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { foundryBinary } from "@geoswap/contracts";
import { serverMain } from "@geoswap/devnet";

/** Puts `geoswapd` and `cast` into a new folder, for the shell's path, and returns the folder. */
export function makeCommands(dataDir: string): string {
	const bin = join(dataDir, "bin");
	mkdirSync(bin, { recursive: true });
	const commands = {
		geoswapd: `"${process.execPath}" "${serverMain}"`,
		cast: `"${foundryBinary("cast", import.meta.url)}"`,
	};
	for (const [name, command] of Object.entries(commands)) {
		const file = join(bin, name);
		writeFileSync(file, `#!/bin/sh\nexec ${command} "$@"\n`);
		chmodSync(file, 0o755);
	}
	return bin;
}
