import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defaultDataDir, defaultPort } from "../devnet-files.ts";

const marker = ".geoswap-stack";

/** Makes a folder the stack's, whose files go with each start. Throws where someone else's could be in it. */
export function claimFolder(folder: string): void {
	mkdirSync(folder, { recursive: true });
	const isOurs = existsSync(join(folder, marker)) || isInDefaultFolder(folder);
	if (!isOurs && readdirSync(folder).length > 0) {
		throw new Error(
			`${folder} has files that are not of a stack, and a stack removes what it finds: name an empty folder with --data-dir`,
		);
	}
	writeFileSync(join(folder, marker), "Whatever is in this folder goes when a stack starts from it.\n");
}

/** A devnet alone leaves its files there too. */
function isInDefaultFolder(folder: string): boolean {
	return !relative(defaultDataDir(defaultPort), folder).startsWith("..");
}
