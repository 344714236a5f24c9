import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defaultDataDir, defaultPort } from "../devnet-files.ts";

const marker = ".geoswap-stack";

/** Claims a folder for the stack, which removes its files on each start. Throws if the folder may hold other files. */
export function claimFolder(folder: string): void {
	mkdirSync(folder, { recursive: true });
	const isOurs = existsSync(join(folder, marker)) || isInDefaultFolder(folder);
	if (!isOurs && readdirSync(folder).length > 0) {
		throw new Error(
			`${folder} has files that do not belong to a stack, and starting a stack would delete them; name an empty folder with --data-dir`,
		);
	}
	writeFileSync(join(folder, marker), "All files in this folder are deleted when a stack starts from it.\n");
}

/** Returns true inside the default folder, where a devnet without a stack puts its files too. */
function isInDefaultFolder(folder: string): boolean {
	return !relative(defaultDataDir(defaultPort), folder).startsWith("..");
}
