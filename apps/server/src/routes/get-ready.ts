import { SwapError } from "@geoswap/protocol";
import type { Route } from "../http/route.ts";

/** Something that must work before requests are sent here. Throws where it does not. */
export type ReadyCheck = { name: string; check: () => Promise<void> };

/** Whether requests should be sent here. Callers that ask at once share one round of checks. */
export function getReady({ checks, timeoutMs = 1_000 }: { checks: ReadyCheck[]; timeoutMs?: number }): Route {
	let round: Promise<void> | undefined;
	return {
		method: "GET",
		path: "/ready",
		operation: undefined,
		async handle({ log }) {
			round ??= Promise.all(
				checks.map(async ({ name, check }) => {
					try {
						await withTimeout(check(), timeoutMs);
					} catch (cause) {
						log.warn({ check: name, err: cause }, "not ready");
						throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: name }, { cause });
					}
				}),
			)
				.then(() => {})
				.finally(() => {
					round = undefined;
				});
			await round;
			return { status: "ready" };
		},
	};
}

async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<void> {
	const { promise: late, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
	try {
		await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}
