import type { Engine, PokeOptions, PokeTarget } from "./engine.ts";

const timeoutMs = 2_000;

/** Returns a client of the engine's ingress, for any process of the service. */
export function connectEngine({ ingressUrl }: { ingressUrl: string }): Engine {
	return {
		poke: coalesce(async ({ object, key }, { delayMs, dedupeKey } = {}) => {
			const path = `/${object}/${encodeURIComponent(key)}/run/send${delayMs ? `?delay=${delayMs}ms` : ""}`;
			const response = await fetch(new URL(path, ingressUrl), {
				method: "POST",
				headers: dedupeKey === undefined ? {} : { "idempotency-key": dedupeKey },
				signal: AbortSignal.timeout(timeoutMs),
			});
			// The connection is reused only if the body is read.
			const text = await response.text();
			if (!response.ok) throw new Error(`the engine answered ${response.status} to ${path}: ${text}`);
		}),
	};
}

/**
 * Sends plain pokes of one handler one at a time. All that are requested while one is in flight become one more after
 * it. The handler that the first poke starts may have searched for work before they were requested, and the second
 * one searches afterwards. A dedupe key would not work, because the engine drops pokes with the key of a handler that
 * has already run.
 */
export function coalesce(send: Engine["poke"]): Engine["poke"] {
	const inFlight = new Map<string, { sending: Promise<void>; next?: Promise<void> }>();

	function sendNow(name: string, target: PokeTarget): Promise<void> {
		const sending = send(target).finally(() => {
			if (inFlight.get(name)?.sending === sending) inFlight.delete(name);
		});
		inFlight.set(name, { sending });
		return sending;
	}

	return (target: PokeTarget, options: PokeOptions = {}) => {
		if (options.delayMs || options.dedupeKey !== undefined) return send(target, options);
		const name = `${target.object}/${target.key}`;
		const before = inFlight.get(name);
		if (!before) return sendNow(name, target);
		before.next ??= before.sending.catch(() => {}).then(() => sendNow(name, target));
		return before.next;
	};
}
