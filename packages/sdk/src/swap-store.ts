/**
 * Where `swap()` keeps what it must not forget: who loses it after a signature was sent cannot know whether there is a swap.
 * One text for each intent.
 */
export type SwapStore = {
	get: (id: string) => Promise<string | undefined>;
	/** Once it is done the text outlives whatever the store is meant to outlive. */
	set: (id: string, text: string) => Promise<void>;
	/** For one caller at a time; undefined where another one has it. */
	lock: (id: string) => Promise<(() => Promise<void>) | undefined>;
};

/** Lasts as long as the process. */
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
