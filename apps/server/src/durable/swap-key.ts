/**
 * The key of a swap's workflow. An engine remembers an execution and its timers by the key: one that goes on where
 * another left off has a key of its own, and hears nothing of what the other waited for.
 */
export function swapKey({ swapUuid, execution }: SwapKey): string {
	return execution === 0 ? swapUuid : `${swapUuid}.${execution}`;
}

export function parseSwapKey(key: string): SwapKey {
	const [swapUuid = "", execution = "0"] = key.split(".");
	return { swapUuid, execution: Number(execution) };
}

type SwapKey = {
	swapUuid: string;
	/** 0 for the first; each that takes over from another has the next number. */
	execution: number;
};
