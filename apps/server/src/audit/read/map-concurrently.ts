const atOnce = 8;

/**
 * Runs a few items at a time, because a node accepts only so many concurrent requests, and returns the results in the
 * order of the items. After an error no further item is started.
 */
export async function mapConcurrently<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
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
