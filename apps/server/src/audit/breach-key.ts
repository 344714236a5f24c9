import type { Finding } from "./read/report.ts";

/** Returns the key by which a breach is accepted. One that grows has another key, so only the known one is accepted. */
export function breachKey({ invariant, message, orderId }: Finding): string {
	return [invariant, message, orderId ?? ""].join(" ").trim();
}
