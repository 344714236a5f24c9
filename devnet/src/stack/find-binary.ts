import { accessSync, constants, globSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Folders in which packages keep binaries off the PATH. */
const folders = [
	"/usr/lib/postgresql/*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
];

/**
 * Returns the path of a program on this machine, or undefined if it is not installed. If there are several versions,
 * returns the newest one.
 */
export function findBinary(name: string): string | undefined {
	const onPath = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
	const elsewhere = folders
		.flatMap((pattern) => globSync(pattern))
		.sort((a, b) => b.localeCompare(a, undefined, { numeric: true }));
	return [...onPath, ...elsewhere].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
