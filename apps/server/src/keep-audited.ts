import { setTimeout as sleep } from "node:timers/promises";
import { createAuditMemory } from "./audit/audit-memory.ts";
import { type ReconcileOptions, reconcile } from "./audit/reconcile.ts";
import type { Breach, Finding, Report } from "./audit/report.ts";
import { breachKey } from "./breach-key.ts";
import type { Config } from "./config.ts";
import { foundTwice } from "./found-twice.ts";
import type { Log } from "./log.ts";
import type { DatabasePool } from "./store/database.ts";
import { holdLeadership } from "./store/leadership.ts";
import { pauseForBreaches, readAcceptedBreaches, readPauses } from "./store/pauses.ts";

/** How soon another worker takes over from one that is gone. */
const takeOverMs = 10_000;

export type AuditRun = { report: Report; endedAtMs: number; durationMs: number; isWhole: boolean };

/**
 * Audits the books on a timer, in one worker at a time. What it finds is looked for a second time, in all there is, before
 * a chain is paused for it. What a chain is paused for, or a person has lifted a pause of, pauses nothing again.
 */
export async function keepAudited({
	config: { audit: settings, worker },
	books,
	pool,
	onRun = () => {},
	onFailure = () => {},
	nowMs,
	signal,
	log,
}: {
	config: { audit: Config["audit"]; worker: Pick<Config["worker"], "drainSeconds"> };
	/** What is audited. */
	books: Pick<ReconcileOptions, "chains" | "solana" | "earlierAttesterSets">;
	/** Nothing that a swap waits for may wait for this. */
	pool: DatabasePool;
	/** Undefined once another worker audits. */
	onRun?: (run: AuditRun | undefined) => void;
	onFailure?: () => void;
	nowMs: () => number;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	const { everySeconds, wholeEverySeconds, confirmSeconds } = settings;
	const workingSinceMs = nowMs();
	// What was decided by processes with another configuration is theirs, and one that leaves still decides.
	const policySinceMs = workingSinceMs + (everySeconds + worker.drainSeconds) * 1_000;
	let memory = createAuditMemory();
	let wholeAtMs: number | undefined;

	while (!signal.aborted) {
		await holdLeadership(pool, { name: "audit" }, async (isHeld) => {
			memory = createAuditMemory();
			wholeAtMs = undefined;
			while (!signal.aborted && isHeld()) {
				await auditOnce().catch((error: unknown) => {
					if (signal.aborted) return;
					onFailure();
					log.error({ err: error }, "the books could not be audited; it is tried again");
				});
				await pause(everySeconds * 1_000);
			}
		}).catch((error: unknown) => {
			if (!signal.aborted) log.warn({ err: error }, "no turn to audit; it is tried again");
		});
		onRun(undefined);
		await pause(Math.min(takeOverMs, everySeconds * 1_000));
	}

	async function auditOnce(): Promise<void> {
		const accepted = await readAcceptedBreaches(pool);
		const paused = await readPauses(pool);
		const isPausedFor = (breach: string, chainId: number) =>
			paused.some((pause) => pause.chainId === chainId && pause.breaches.includes(breach));
		// There is nothing left to do about it but to tell it.
		const isKnown = (finding: Finding) => {
			const [key, { chainIds }] = [breachKey(finding), finding];
			return accepted.has(key) || (chainIds.length > 0 && chainIds.every((id) => isPausedFor(key, id)));
		};
		const isNew = (breach: Breach) => breach.pauses !== false && !isKnown(breach);
		const isWhole = wholeAtMs === undefined || nowMs() - wholeAtMs >= wholeEverySeconds * 1_000;
		if (isWhole) memory = createAuditMemory();
		const first = await run({ isKnown, isWhole });
		if (isWhole) wholeAtMs = first.endedAtMs;
		if (!first.report.breaches.some(isNew)) return onRun(first);

		// A swap that moved while it was read, or a node that lagged, is no breach any more.
		await pause(confirmSeconds * 1_000);
		if (signal.aborted) return;
		memory = createAuditMemory();
		const second = await run({ isKnown, isWhole: true });
		wholeAtMs = second.endedAtMs;
		onRun(second);
		const confirmed = foundTwice(first.report.breaches, second.report.breaches, isNew);
		for (const breach of confirmed) log.error({ ...breach }, "an invariant is breached");
		const chainIds = new Set(confirmed.flatMap((breach) => breach.chainIds));
		for (const chainId of chainIds) {
			const ofChain = confirmed.filter((breach) => breach.chainIds.includes(chainId));
			const names = [...new Set(ofChain.map(({ invariant }) => invariant))].join(", ");
			const isPaused = await pauseForBreaches(pool, {
				chainId,
				reason: `an audit found that its books do not hold (${names})`,
				breaches: ofChain.map(breachKey),
				nowMs: nowMs(),
			});
			if (isPaused)
				log.error({ chainId, invariants: names }, "the chain is paused: nothing new is sold there");
		}
	}

	async function run({
		isKnown,
		isWhole,
	}: {
		isKnown: (finding: Finding) => boolean;
		isWhole: boolean;
	}): Promise<AuditRun> {
		const startedAtMs = nowMs();
		const since = { policySinceMs, workingSinceMs };
		const report = await reconcile({ ...books, pool, memory, isKnown, ...since, nowMs: startedAtMs });
		const endedAtMs = nowMs();
		const { orders, swaps, breaches, losses } = report;
		const durationMs = endedAtMs - startedAtMs;
		const counts = { breaches: breaches.length, losses: losses.length };
		log.info({ orders, swaps, ...counts, durationMs, isWhole }, "the books were audited");
		return { report, endedAtMs, durationMs, isWhole };
	}

	async function pause(ms: number): Promise<void> {
		await sleep(ms, undefined, { signal }).catch(() => {});
	}
}
