import type { Milliseconds } from "@geoswap/protocol";

/** Returns the time in a Retry-After header: seconds or a date. Undefined if it has none. */
export function retryAfterMs(
	header: string | null | undefined,
	nowMs = Date.now(),
): Milliseconds | undefined {
	if (!header) return undefined;
	const ms = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
	return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
