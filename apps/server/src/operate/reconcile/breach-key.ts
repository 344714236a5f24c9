import type { Finding } from "../../audit/read/report.ts";

/** By which a breach is accepted. One that grows is another: what was accepted is what was seen. */
export function breachKey({ invariant, message, orderId }: Finding): string {
	return [invariant, message, orderId ?? ""].join(" ").trim();
}
