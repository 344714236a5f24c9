/**
 * The store in which `swap()` keeps its progress, one text for each intent. A caller that loses it after a signature
 * was sent cannot know whether there is a swap.
 */
export type SwapStore = {
	get: (id: string) => Promise<string | undefined>;
	/** Once this resolves, the text survives anything that the store is meant to survive. */
	set: (id: string, text: string) => Promise<void>;
	/** Locks the id for one caller at a time, and returns its unlock function. Undefined if it is already locked. */
	lock: (id: string) => Promise<(() => Promise<void>) | undefined>;
};

/** Returns a store that lasts as long as the process. */
export function memoryStore(): SwapStore {
	const texts = new Map<string, string>();
	const locked = new Set<string>();
	return {
		get: async (id) => texts.get(id),
		set: async (id, text) => {
			texts.set(id, text);
		},
		lock: async (id) => {
			if (locked.has(id)) return undefined;
			locked.add(id);
			return async () => {
				locked.delete(id);
			};
		},
	};
}
