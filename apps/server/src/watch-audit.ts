import { invariants } from "./audit/report.ts";
import type { Config } from "./config.ts";
import type { AuditRun } from "./keep-audited.ts";
import type { Meter, Sample } from "./telemetry/meter.ts";

/** Lets be seen when the books were last audited, and what was found. Only in the worker that audits. */
export function watchAudit({
	meter,
	config: { chains, solana },
	nowMs,
}: {
	meter: Meter;
	config: Pick<Config, "chains" | "solana">;
	nowMs: () => number;
}): { onRun: (run: AuditRun | undefined) => void; onFailure: () => void } {
	const chainIds = [...chains, ...(solana ? [solana] : [])].map(({ chainId }) => chainId);
	let last: AuditRun | undefined;
	const countFailure = meter.counter(
		"geoswap_audit_failures_total",
		"Audits that could not be made: a chain or the database did not answer",
		[{}],
	);
	meter.reading({
		name: "audit",
		gauges: {
			geoswap_audit_age_seconds: "How long ago the last audit of the books ended that could be made",
			geoswap_audit_duration_seconds: "How long it took",
			geoswap_audit_breaches: "What it found that must not be so, by invariant and chain",
			geoswap_audit_notices: "What it found that stops nothing, by invariant and chain",
			geoswap_audit_lost_usd: "What was delivered and is not paid for, of what it looked at, by origin chain",
		},
		read: () => {
			if (!last) return [];
			const { report, endedAtMs, durationMs } = last;
			return [
				{ gauge: "geoswap_audit_age_seconds", value: (nowMs() - endedAtMs) / 1_000 },
				{ gauge: "geoswap_audit_duration_seconds", value: durationMs / 1_000 },
				...chainIds.flatMap((chainId): Sample[] => [
					...invariants.flatMap((invariant): Sample[] => {
						const found = report.breaches.filter(
							(breach) => breach.invariant === invariant && breach.chainIds.includes(chainId),
						);
						const notices = found.filter(({ pauses }) => pauses === false).length;
						const labels = { invariant, chain: String(chainId) };
						return [
							{ gauge: "geoswap_audit_breaches", labels, value: found.length - notices },
							{ gauge: "geoswap_audit_notices", labels, value: notices },
						];
					}),
					{
						gauge: "geoswap_audit_lost_usd",
						labels: { chain: String(chainId) },
						value: Number(report.lostUsdCents[chainId] ?? 0) / 100,
					},
				]),
			];
		},
	});
	return {
		onRun: (run) => {
			last = run;
		},
		onFailure: () => countFailure(),
	};
}
