import type { Meter } from "./meter.ts";

const secondsBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A call to a signer that has ended. */
type SignerCall = {
	key: { reference: string; backend: string };
	seconds: number;
	outcome: "ok" | "refused" | "deferred" | "failed" | "timeout" | "skipped";
};

/** Returns a function that counts calls to signers. */
export function signerMetrics(meter: Meter): (call: SignerCall) => void {
	const observe = meter.histogram(
		"geoswap_signer_duration_seconds",
		"Time that a signer took, by key, backend and outcome: ok, refused (it does not sign this), deferred (it does not sign this for now), failed, timeout, or skipped (it failed shortly before and was not called)",
		secondsBounds,
	);
	return ({ key: { reference, backend }, seconds, outcome }) =>
		observe(seconds, { key: reference, backend, outcome });
}
