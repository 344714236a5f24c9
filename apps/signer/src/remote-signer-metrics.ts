import { type RefusalReason, refusalReasons } from "./policy/refusal.ts";
import type { SignerState } from "./state/open-signer-state.ts";
import type { Meter, Sample } from "./telemetry/meter.ts";

/** The counters of the remote signer. */
export type RemoteSignerMetrics = {
	signed: (key: string, kind: string) => void;
	/** Counts a refusal. The key is empty if the client may not use it, because the name is then unverified. */
	refused: (key: string, reason: RefusalReason) => void;
	/** Counts a payload that was allowed, and that the key's backend did not sign. */
	failed: (key: string) => void;
};

export function remoteSignerMetrics(
	meter: Meter,
	{
		keys,
		report,
		certificates,
		nowMs,
	}: {
		keys: readonly string[];
		report: SignerState["report"];
		/** Returns when each certificate expires, by its file or its client. */
		certificates: () => { name: string; expiresAtMs: number }[];
		nowMs: () => number;
	},
): RemoteSignerMetrics {
	const signed = meter.counter(
		"geoswap_signer_signatures_total",
		"Signatures that the remote signer made, by key and kind of payload",
	);
	const refused = meter.counter(
		"geoswap_signer_refusals_total",
		"Payloads that the remote signer refused, by key and reason. The key is empty if the client may not use it",
		keys.flatMap((key) => refusalReasons.map((reason) => ({ key, reason }))),
	);
	const failed = meter.counter(
		"geoswap_signer_failures_total",
		"Payloads that were allowed, and that the key's backend did not sign",
		keys.map((key) => ({ key })),
	);
	meter.reading({
		name: "signer",
		gauges: {
			geoswap_signer_spent_ratio:
				"Share of a cap that is used up, by meter and window (hour or day). At 1 nothing more is signed",
			geoswap_signer_certificate_expiry_seconds:
				"Seconds until a certificate expires: the signer's own, its authority's, and each client's that has connected",
		},
		read: () => [
			...report().flatMap(({ meter: name, cap, hour, day }) => [
				sample("geoswap_signer_spent_ratio", ratio(hour, cap.perHour), { meter: name, window: "hour" }),
				sample("geoswap_signer_spent_ratio", ratio(day, cap.perDay), { meter: name, window: "day" }),
			]),
			...certificates().map(({ name, expiresAtMs }) =>
				sample("geoswap_signer_certificate_expiry_seconds", Math.floor((expiresAtMs - nowMs()) / 1_000), {
					certificate: name,
				}),
			),
		],
	});
	return {
		signed: (key, kind) => signed({ key, kind }),
		refused: (key, reason) => refused({ key, reason }),
		failed: (key) => failed({ key }),
	};
}

function sample(gauge: string, value: number, labels: Record<string, string>): Sample {
	return { gauge, value, labels };
}

/** A cap of zero is never used up. It means that nothing is allowed. */
function ratio(spent: bigint, cap: bigint): number {
	return cap === 0n ? 0 : Number((spent * 10_000n) / cap) / 10_000;
}
