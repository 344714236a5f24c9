const atOnce = 8;

/** Results in the order of what they are of, a few at a time: a node answers only so many at once. */
export async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
	const results: R[] = [];
	let next = 0;
	const work = async () => {
		while (next < items.length) {
			const i = next++;
			results[i] = await run(items[i] as T);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, work));
	return results;
}
