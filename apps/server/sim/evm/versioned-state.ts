/** A balance, a nonce, the state of an order, an account's code. */
export type Value = bigint | string;

/** The state of a chain, as of every one of its blocks. */
export type VersionedState = {
	/** Returns the value at the end of the block. */
	read: (key: string, height: number) => Value | undefined;
	write: (height: number, changes: ReadonlyMap<string, Value>) => void;
	/** Forgets the changes of the blocks above this one. */
	dropAbove: (height: number) => void;
	/** Changes a value as if it had been so from the first block on, so that no reorg removes the change. */
	rewrite: (key: string, change: (value: Value | undefined) => Value) => void;
};

type Versions = { heights: number[]; values: Value[] };

export function createVersionedState(): VersionedState {
	const versions = new Map<string, Versions>();
	const changedAt = new Map<number, string[]>();
	let highest = 0;

	return {
		read: (key, height) => {
			const found = versions.get(key);
			if (!found) return undefined;
			const { heights, values } = found;
			// Reads are nearly always of the newest blocks.
			for (let i = heights.length - 1; i >= 0; i--) if ((heights[i] as number) <= height) return values[i];
			return undefined;
		},
		write: (height, changes) => {
			highest = height;
			for (const [key, value] of changes) {
				let found = versions.get(key);
				if (!found) {
					found = { heights: [], values: [] };
					versions.set(key, found);
				}
				found.heights.push(height);
				found.values.push(value);
			}
			changedAt.set(height, [...changes.keys()]);
		},
		dropAbove: (height) => {
			for (; highest > height; highest--) {
				for (const key of changedAt.get(highest) ?? []) {
					const found = versions.get(key);
					found?.heights.pop();
					found?.values.pop();
				}
				changedAt.delete(highest);
			}
		},
		rewrite: (key, change) => {
			const { heights, values } = versions.get(key) ?? { heights: [], values: [] };
			const isFromStart = heights[0] === 0;
			versions.set(key, {
				heights: isFromStart ? heights : [0, ...heights],
				values: [...(isFromStart ? [] : [change(undefined)]), ...values.map(change)],
			});
		},
	};
}
