import { SwapError } from "@geoswap/protocol";

/** Enough paths to fix a request. */
const maxPaths = 20;
/** Longer than the path of any field of this API. */
const maxPathLength = 128;

/**
 * Returns the paths of texts that PostgreSQL cannot store, neither as text nor in JSON: those with the character U+0000,
 * and those with one half of a surrogate pair. Names of fields count too.
 */
export function unstorableTexts(value: object): string[] {
	const paths: string[] = [];
	// No recursion, because a small body can nest deeper than the stack allows.
	const open: { path: string; inner: object }[] = [{ path: "", inner: value }];
	for (let next = open.pop(); next && paths.length < maxPaths; next = open.pop()) {
		for (const [name, field] of Object.entries(next.inner)) {
			const path = next.path === "" ? name : `${next.path}.${name}`;
			if (!isStorable(name) || (typeof field === "string" && !isStorable(field))) paths.push(path);
			else if (typeof field === "object" && field !== null) open.push({ path, inner: field });
		}
	}
	return paths.slice(0, maxPaths);
}

/**
 * Fields that are decoded and never stored as they are. An unstorable text in one is simply an unknown swap or an
 * unreadable token, and is answered as such.
 */
export const decodedFields: readonly string[] = ["swapId", "geoQuoteToken", "geoOpToken"];

/** Throws INVALID_REQUEST with the name of each field whose text could not be stored. */
export function refuseUnstorable(value: object): void {
	const paths = unstorableTexts(value).filter((path) => !decodedFields.includes(path));
	if (paths.length === 0) return;
	const message = "must not contain the character U+0000 or half of a surrogate pair";
	throw new SwapError("INVALID_REQUEST", {
		issues: paths.map((path) => ({ path: path.toWellFormed().slice(0, maxPathLength), message })),
	});
}

function isStorable(text: string): boolean {
	return !text.includes("\u0000") && text.isWellFormed();
}
