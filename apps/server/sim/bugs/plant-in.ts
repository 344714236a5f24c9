import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** An edit of a file in the repository, with a text that must occur exactly once, and the mistake that replaces it. */
export type Edit = { file: string; find: string; replace: string };

const repository = join(import.meta.dirname, "../../../..");

export function sourcePath(file: string): string {
	return join(repository, file);
}

export function sourceUrl(file: string): string {
	return pathToFileURL(sourcePath(file)).href;
}

/** Returns the source with the edits applied. Throws if a bug no longer fits its file. */
export function plantIn(source: string, edits: readonly Edit[]): string {
	for (const { file, find, replace } of edits) {
		const count = source.split(find).length - 1;
		if (count !== 1)
			throw new Error(`${file}: the text to replace occurs ${count} times, not once:\n${find}`);
		source = source.replace(find, () => replace);
	}
	return source;
}
