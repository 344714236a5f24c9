import { toJson } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { getStatusWithPause, type Swap } from "./get-status.ts";
import { maxPauseMs, sendAgain } from "./send-again.ts";
import { sleep } from "./sleep.ts";

/** A swap that can no longer change. A settled one has its transactions. */
export type EndedSwap =
	| (Swap & { status: "settled"; originTxHash: string; deliveryTxHash: string })
	| (Swap & { status: "refunded" | "failed" });

/** The hold of a status call for a caller that wants updates. Each stage is reported with at most about this delay. */
const updateSeconds = 2;
/**
 * The minimum time between calls. A call that the service did not hold must not cause a busy loop, regardless of the
 * requested pause.
 */
const shortestRoundMs = 1000;

/**
 * Waits until the swap is settled, failed or refunded, through any outage of the service. The swap continues without
 * its caller, and is always decided by a known time. Only the signal, or an error that waiting cannot fix, ends the
 * wait earlier.
 */
export async function waitForSwap(
	client: Client,
	swapId: string,
	{ onUpdate, signal }: { onUpdate?: (swap: Swap) => void; signal?: AbortSignal } = {},
): Promise<EndedSwap> {
	for (let last = ""; ; ) {
		const startedMs = performance.now();
		const hold = onUpdate ? { waitSeconds: updateSeconds } : {};
		const ask = async () => {
			const { answer, retryAfterMs } = await getStatusWithPause(client, swapId, { ...hold, signal });
			if (answer.swapId !== swapId || isWithoutTransactions(answer)) throw ofAnotherSwap(client, swapId);
			// `held` is about this call, not about the swap.
			const { held, ...state } = answer;
			return { swap: state, pauseMs: held === false ? (retryAfterMs ?? 0) : undefined };
		};
		const { swap, pauseMs } = await sendAgain(ask, {
			patienceMs: Number.POSITIVE_INFINITY,
			signal,
		});
		const text = toJson(swap);
		if (text !== last) onUpdate?.(swap);
		if (isEnded(swap)) return swap;
		last = text;
		const restMs =
			pauseMs === undefined
				? startedMs + shortestRoundMs - performance.now()
				: Math.max(shortestRoundMs, Math.min(pauseMs, maxPauseMs));
		await sleep(Math.max(0, restMs), signal);
	}
}

function isEnded(swap: Swap): swap is EndedSwap {
	// The statuses are compared by name, because a proxy may respond instead of the service, with anything.
	return ["settled", "refunded", "failed"].includes(swap.status);
}

/** The service never reports a swap as settled without both transactions. */
function isWithoutTransactions({ status, originTxHash, deliveryTxHash }: Swap): boolean {
	return status === "settled" && (originTxHash === undefined || deliveryTxHash === undefined);
}

/** Returns the error for a response about another swap, since a proxy may respond from its cache. */
function ofAnotherSwap(client: Client, swapId: string): GeoswapError {
	return new GeoswapError(
		`${client.baseUrl} did not answer about ${swapId}. Send the same request again; if it persists, check the address.`,
		{ code: "UNEXPECTED_RESPONSE", next: "retry", retryable: true, docs: docsUrl(client) },
	);
}
