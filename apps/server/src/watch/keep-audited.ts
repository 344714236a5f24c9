import { setTimeout as sleep } from "node:timers/promises";
import { isSolana, type Milliseconds, type Seconds } from "@geoswap/protocol";
import { breachKey, createAuditMemory } from "../audit/audit-memory.ts";
import type { Breach, Finding, Report } from "../audit/read/report.ts";
import { type ReconcileOptions, reconcile } from "../audit/reconcile.ts";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import { holdLeadership } from "../database/leadership.ts";
import { pauseForBreaches, readAcceptedBreaches, readPauses } from "../swap/pause/pauses.ts";
import type { Log } from "../telemetry/log.ts";
import { foundTwice } from "./found-twice.ts";

/** Milliseconds within which another process takes over from one that is gone. */
const takeOverMs = 10_000;

/**
 * Maximum number of Solana transactions that an audit reads, which takes minutes. The next audit continues there.
 * Anyone can name the service's addresses in as many transactions as they pay for. Only an audit that has to confirm
 * a breach on Solana reads everything of the last two hours.
 */
const defaultMaxSolanaReads = 20_000;
/** Time within which an operator or a supervisor starts a new version and then stops the previous one. */
const defaultEarlierWorkersSeconds = 300;

export type AuditRun = {
	report: Report;
	endedAtMs: Milliseconds;
	durationMs: Milliseconds;
	isWhole: boolean;
};

/**
 * Audits the books on a timer, in one process at a time. A second, full audit must confirm a finding before a chain
 * is paused for it. A breach for which a chain is already paused, or whose pause an operator has lifted, pauses
 * nothing again.
 */
export async function keepAudited({
	config: { audit: settings },
	books,
	pool,
	maxSolanaReads = defaultMaxSolanaReads,
	earlierWorkersSeconds = defaultEarlierWorkersSeconds,
	onRun = () => {},
	onFailure = () => {},
	nowMs,
	signal,
	log,
}: {
	config: Pick<Config, "audit">;
	books: Pick<ReconcileOptions, "chains" | "solana" | "earlierAttesterSets">;
	pool: DatabasePool;
	/** The maximum number of Solana transactions that an audit reads. */
	maxSolanaReads?: number;
	/** How long workers of an earlier version may still decide by their own configuration. */
	earlierWorkersSeconds?: Seconds;
	/** Called with undefined once another process audits. */
	onRun?: (run: AuditRun | undefined) => void;
	/** Called for each chain that could not be audited, or with `all` if nothing could be. */
	onFailure?: (what: number | "all") => void;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	const { everySeconds, wholeEverySeconds, confirmSeconds } = settings;
	let workingSinceMs = nowMs();
	// Workers with another configuration decide by theirs until they are stopped.
	const policySinceMs = workingSinceMs + (everySeconds + earlierWorkersSeconds) * 1_000;
	let memory = createAuditMemory();
	let wholeAtMs: Milliseconds | undefined;

	while (!signal.aborted) {
		await holdLeadership(pool, { name: "audit" }, async (isHeld) => {
			memory = createAuditMemory();
			wholeAtMs = undefined;
			// A process that takes over has no memory, so its audits read everything, but only a part of Solana each time.
			while (!signal.aborted && isHeld()) {
				await auditOnce().catch((error: unknown) => {
					if (signal.aborted) return;
					onFailure("all");
					log.error({ err: error }, "the audit failed; retrying");
				});
				await pause(everySeconds * 1_000);
			}
		}).catch((error: unknown) => {
			if (!signal.aborted) log.warn({ err: error }, "could not take the lead of the audit; retrying");
		});
		onRun(undefined);
		await pause(Math.min(takeOverMs, everySeconds * 1_000));
	}

	async function auditOnce(): Promise<void> {
		// No swap could progress while no worker ran.
		if (!(await areBlocksRead(pool))) workingSinceMs = nowMs();
		const accepted = await readAcceptedBreaches(pool);
		const paused = await readPauses(pool);
		const isPausedFor = (breach: string, chainId: number) =>
			paused.some((pause) => pause.chainId === chainId && pause.breaches.includes(breach));
		// A known finding is only reported, because nothing else is left to do.
		const isKnown = (finding: Finding) => {
			const [key, { chainIds }] = [breachKey(finding), finding];
			return accepted.has(key) || (chainIds.length > 0 && chainIds.every((id) => isPausedFor(key, id)));
		};
		const isNew = (breach: Breach) => breach.pauses !== false && !isKnown(breach);
		const isWhole = wholeAtMs === undefined || nowMs() - wholeAtMs >= wholeEverySeconds * 1_000;
		if (isWhole) memory = createAuditMemory(memory);
		const first = await run({ isKnown, isWhole, maxSolanaReads });
		if (isWhole) wholeAtMs = first.endedAtMs;
		if (!first.report.breaches.some(isNew)) return onRun(first);

		// A swap that moved while it was read, or a node that lagged, is no longer a breach.
		await pause(confirmSeconds * 1_000);
		if (signal.aborted) return;
		memory = createAuditMemory(memory);
		// The pauses of all chains wait for this run, so it reads all of Solana only if the breach may be there.
		const isOnSolana = first.report.breaches.some(
			(breach) => isNew(breach) && breach.chainIds.some(isSolana),
		);
		const second = await run({
			isKnown,
			isWhole: true,
			maxSolanaReads: isOnSolana ? undefined : maxSolanaReads,
		});
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
				reason: `the audit found a breach (${names})`,
				breaches: ofChain.map(breachKey),
				nowMs: nowMs(),
			});
			if (isPaused)
				log.error({ chainId, invariants: names }, "the chain is paused; swaps from or to it are not quoted");
		}
	}

	async function run({
		isKnown,
		isWhole,
		maxSolanaReads: maxReads,
	}: {
		isKnown: (finding: Finding) => boolean;
		isWhole: boolean;
		maxSolanaReads: number | undefined;
	}): Promise<AuditRun> {
		const startedAtMs = nowMs();
		const since = { policySinceMs, workingSinceMs };
		const report = await reconcile({
			...books,
			...since,
			pool,
			memory,
			isKnown,
			maxSolanaReads: maxReads,
			nowMs: startedAtMs,
		});
		for (const { chainId, why } of report.unchecked) {
			onFailure(chainId);
			log.error({ chainId, why }, "the chain could not be audited, only the others were; retrying");
		}
		const endedAtMs = nowMs();
		const { orders, swaps, breaches, losses, owed } = report;
		const durationMs = endedAtMs - startedAtMs;
		const counts = { breaches: breaches.length, losses: losses.length, owed: owed.length };
		log.info({ orders, swaps, ...counts, durationMs, isWhole }, "the books were audited");
		return { report, endedAtMs, durationMs, isWhole };
	}

	async function pause(ms: number): Promise<void> {
		await sleep(ms, undefined, { signal }).catch(() => {});
	}
}

/** Returns whether a worker has read a block of any chain within the last minute. */
async function areBlocksRead(pool: DatabasePool): Promise<boolean> {
	const { rows } = await pool.query<{ is_read: boolean | null }>(
		"select max(updated_at) > now() - interval '1 minute' as is_read from chain_heads",
	);
	return rows[0]?.is_read ?? false;
}
