/** Returns what `wait` resolves to, or throws the signal's reason if that comes first, because a user may take long. */
export async function unlessAborted<Value>(
	wait: () => Promise<Value>,
	signal: AbortSignal | undefined,
): Promise<Value> {
	let onAbort: (() => void) | undefined;
	const aborted = new Promise<never>((_, reject) => {
		onAbort = () => reject(signal?.reason);
		signal?.addEventListener("abort", onAbort, { once: true });
	});
	try {
		signal?.throwIfAborted();
		return await Promise.race([wait(), aborted]);
	} finally {
		if (onAbort) signal?.removeEventListener("abort", onAbort);
	}
}
