import type { Milliseconds } from "@geoswap/protocol";
import { invariants } from "../../audit/read/report.ts";
import type { Config } from "../../config/config.ts";
import { type Meter, type Sample, sample } from "../../telemetry/meter.ts";
import type { AuditRun } from "../reconcile/keep-audited.ts";

/** Publishes when the books were last audited, and the findings. Only in the worker that audits. */
export function watchAudit({
	meter,
	config,
	nowMs,
}: {
	meter: Meter;
	config: Pick<Config, "chains">;
	nowMs: () => Milliseconds;
}): { onRun: (run: AuditRun | undefined) => void; onFailure: (what: number | "all") => void } {
	const chainIds = config.chains.map(({ chainId }) => chainId);
	let last: AuditRun | undefined;
	/** The time of each chain's last audit. A chain without one counts from this worker's first audit. */
	const checkedAtMs = new Map<number, number>();
	const countFailure = meter.counter(
		"geoswap_audit_failures_total",
		"Audits that could not be made, by the chain that did not answer; all where the database did not",
		[...chainIds.map(String), "all"].map((chain) => ({ chain })),
	);
	meter.reading({
		name: "audit",
		gauges: {
			geoswap_audit_age_seconds: "How long ago the last audit ended in which the chain could be checked",
			geoswap_audit_duration_seconds: "How long it took",
			geoswap_audit_breaches: "What it found that must not be so, by invariant and chain",
			geoswap_audit_notices: "What it found that stops nothing, by invariant and chain",
			geoswap_audit_owed: "Refunds that a wallet, or the issuer of its token, holds up, by chain",
			geoswap_audit_undecodable: "Transactions of others on Solana that cannot be decoded, and were skipped",
			geoswap_audit_lost_usd: "What was delivered and is not paid for, of what it looked at, by origin chain",
		},
		read: () => {
			if (!last) return [];
			const { report, durationMs } = last;
			return [
				sample("geoswap_audit_duration_seconds", durationMs / 1_000),
				...report.chains.flatMap(({ chainId, strangers }) =>
					strangers
						? sample("geoswap_audit_undecodable", strangers.undecodable, { chain: String(chainId) })
						: [],
				),
				...chainIds.flatMap((chainId): Sample[] => {
					const chain = String(chainId);
					const ageMs = nowMs() - (checkedAtMs.get(chainId) ?? nowMs());
					const owed = report.owed.filter((one) => one.chainId === chainId);
					return [
						sample("geoswap_audit_age_seconds", ageMs / 1_000, { chain }),
						sample("geoswap_audit_owed", owed.length, { chain }),
						...invariants.flatMap((invariant) => {
							const found = report.breaches.filter(
								(breach) => breach.invariant === invariant && breach.chainIds.includes(chainId),
							);
							const notices = found.filter(({ pauses }) => pauses === false).length;
							return [
								sample("geoswap_audit_breaches", found.length - notices, { invariant, chain }),
								sample("geoswap_audit_notices", notices, { invariant, chain }),
							];
						}),
						sample("geoswap_audit_lost_usd", Number(report.lostUsdCents[chainId] ?? 0) / 100, { chain }),
					];
				}),
			];
		},
	});
	return {
		onRun: (run) => {
			last = run;
			if (!run) checkedAtMs.clear();
			const failed = new Set(run?.report.unchecked.map(({ chainId }) => chainId));
			for (const chainId of run ? chainIds : []) {
				if (!failed.has(chainId) || !checkedAtMs.has(chainId)) checkedAtMs.set(chainId, run?.endedAtMs ?? 0);
			}
		},
		onFailure: (what) => countFailure({ chain: String(what) }),
	};
}
