import { isTerminal } from "@geoswap/protocol";
import { type Client, GeoswapError, type Swap, waitForSwap } from "@geoswap/sdk";
import { streamEvents } from "@geoswap/sdk/events";

/** Errors that a poll would get as well. */
const finalCodes = new Set<string>(["UNAUTHORIZED", "SWAP_NOT_FOUND"]);

/**
 * Follows a swap to its end by the service's stream of events. Polls instead if the service has no streams, or if the
 * stream sends nothing for a while, because a proxy may hold it back.
 */
export async function followSwap(
	client: Client,
	swapId: string,
	{
		onUpdate,
		signal,
		silenceMs = 20_000,
	}: { onUpdate: (swap: Swap) => void; signal: AbortSignal; silenceMs?: number },
): Promise<Swap> {
	const ended = await followStream(client, swapId, { onUpdate, signal, silenceMs });
	return ended ?? waitForSwap(client, swapId, { onUpdate, signal });
}

/** Returns the swap once the stream reports its end, or undefined if the stream cannot be relied on. */
async function followStream(
	client: Client,
	swapId: string,
	{ onUpdate, signal, silenceMs }: { onUpdate: (swap: Swap) => void; signal: AbortSignal; silenceMs: number },
): Promise<Swap | undefined> {
	const silence = new AbortController();
	const timer = setTimeout(() => silence.abort(), silenceMs);
	try {
		const both = AbortSignal.any([signal, silence.signal]);
		for await (const one of streamEvents(client, { swapId, signal: both })) {
			timer.refresh();
			if (one.kind === "reset" || one.event.data?.swapId !== swapId) continue;
			const { data } = one.event;
			onUpdate(data);
			if (isTerminal(data.status)) return data;
		}
		return undefined;
	} catch (error) {
		signal.throwIfAborted();
		if (error instanceof GeoswapError && finalCodes.has(error.code)) throw error;
		return undefined;
	} finally {
		clearTimeout(timer);
	}
}
