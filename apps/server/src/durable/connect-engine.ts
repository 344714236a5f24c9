import type { Engine, PokeOptions, PokeTarget } from "./durable.ts";
import { swapKey } from "./swap-key.ts";

const timeoutMs = 10_000;

/** What processes outside an execution ask of the engine, over its ingress. */
export function connectEngine({ ingressUrl }: { ingressUrl: string }): Engine {
	async function post(path: string, headers: Record<string, string> = {}): Promise<Response> {
		const response = await fetch(new URL(path, ingressUrl), {
			method: "POST",
			headers,
			signal: AbortSignal.timeout(timeoutMs),
		});
		// Read, or the connection is not used again.
		const text = await response.text();
		if (response.status >= 500) throw new Error(`the engine answered ${response.status} to ${path}: ${text}`);
		return response;
	}

	async function expectAccepted(sending: Promise<Response>): Promise<void> {
		const { ok, status, url } = await sending;
		if (!ok) throw new Error(`the engine answered ${status} to ${url}`);
	}

	return {
		// Of a workflow that was started before the answer is `PreviouslyAccepted`, which is as good.
		startSwap: (swapUuid, execution = 0) =>
			expectAccepted(post(`/swap/${swapKey({ swapUuid, execution })}/run/send`)),
		raise: async (signalId) => {
			// Anything but a fault of the engine means that nobody waits for this signal any more.
			await post(`/restate/awakeables/${signalId}/resolve`);
		},
		poke: ({ object, key }: PokeTarget, { delayMs, dedupeKey }: PokeOptions = {}) =>
			expectAccepted(
				post(
					`/${object}/${encodeURIComponent(key)}/pump/send${delayMs ? `?delay=${delayMs}ms` : ""}`,
					dedupeKey === undefined ? {} : { "idempotency-key": dedupeKey },
				),
			),
	};
}
