import type { Value } from "./versioned-state.ts";

/** The changes of a block, a call or a simulation, above a state that stays unchanged. */
export type StateOverlay = {
	number: (key: string) => bigint;
	text: (key: string) => string;
	set: (key: string, value: Value) => void;
	/** Returns a point to undo to. */
	mark: () => number;
	undoTo: (mark: number) => void;
	changes: () => ReadonlyMap<string, Value>;
};

export function createStateOverlay(below: (key: string) => Value | undefined): StateOverlay {
	const changes = new Map<string, Value>();
	const undo: { key: string; before: Value | undefined }[] = [];
	const get = (key: string) => changes.get(key) ?? below(key);
	return {
		number: (key) => (get(key) ?? 0n) as bigint,
		text: (key) => (get(key) ?? "") as string,
		set: (key, value) => {
			undo.push({ key, before: changes.get(key) });
			changes.set(key, value);
		},
		mark: () => undo.length,
		undoTo: (mark) => {
			while (undo.length > mark) {
				const last = undo.pop();
				if (last?.before !== undefined) changes.set(last.key, last.before);
				else if (last) changes.delete(last.key);
			}
		},
		changes: () => changes,
	};
}

/** The key of each value. Addresses and slots are in lower case. */
export const stateKey = {
	nonce: (account: string) => `nonce:${account}`,
	/** The account's code in hex, empty if it has none. */
	code: (account: string) => `code:${account}`,
	/** The account's balance of the native token. */
	native: (account: string) => `native:${account}`,
	slot: (account: string, slot: string) => `slot:${account}:${slot}`,
} as const;
