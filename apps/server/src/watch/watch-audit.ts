import type { Milliseconds } from "@geoswap/protocol";
import { invariants } from "../audit/read/report.ts";
import type { Config } from "../config/config.ts";
import { type Meter, type Sample, sample } from "../telemetry/meter.ts";
import type { AuditRun } from "./keep-audited.ts";

/** Publishes when the books were last audited, and the findings. Only in the process that audits. */
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
	/** The time of each chain's last audit. A chain without one counts from this process's first audit. */
	const checkedAtMs = new Map<number, number>();
	const countFailure = meter.counter(
		"geoswap_audit_failures_total",
		"Failed audits, by the chain that did not answer; `all` if the database did not answer",
		[...chainIds.map(String), "all"].map((chain) => ({ chain })),
	);
	meter.reading({
		name: "audit",
		gauges: {
			geoswap_audit_age_seconds: "Time since the end of the last audit that could check the chain",
			geoswap_audit_duration_seconds: "Duration of the last audit",
			geoswap_audit_breaches: "Breaches that the last audit found, by invariant and chain",
			geoswap_audit_notices: "Findings of the last audit that pause no chain, by invariant and chain",
			geoswap_audit_owed: "Refunds that are blocked by the wallet or by the issuer of its token, by chain",
			geoswap_audit_undecodable:
				"Other parties' transactions on Solana that could not be decoded and were skipped",
			geoswap_audit_lost_usd:
				"Value that was delivered and never paid for, in the orders that the last audit checked, by origin chain",
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
