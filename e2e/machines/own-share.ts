/**
 * The part of a long run that this one covers, such as "2/4" for the second quarter. The whole takes too long for one
 * run.
 */
const [part = 1, parts = 1] = process.env.GEOSWAP_PART?.split("/").map(Number) ?? [];

/** Returns this part's share of the items of a whole run. */
export function ownShare<Item>(items: readonly Item[]): Item[] {
	return items.filter((_, i) => i % parts === part - 1);
}

/** Returns this part's share of a number. */
export function ownCount(count: number): number {
	return Math.ceil(count / parts);
}
