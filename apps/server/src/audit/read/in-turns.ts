const atOnce = 8;

/**
 * Results in the order of what they are of, a few at a time: a node answers only so many at once. After an error nothing
 * more is begun.
 */
export async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
	const results: R[] = [];
	let next = 0;
	const work = async () => {
		while (next < items.length) {
			const i = next++;
			try {
				results[i] = await run(items[i] as T);
			} catch (error) {
				next = items.length;
				throw error;
			}
		}
	};
	await Promise.all(Array.from({ length: atOnce }, work));
	return results;
}
