import { unpackDeadlines } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { DatabasePool } from "../src/database/database.ts";
import type { ChainName, Fault, Plan } from "./plan.ts";
import { pace } from "./sim-config.ts";
import type { SimSwap } from "./sim-swap.ts";
import { relayersPerChain } from "./world.ts";
import type { SentTransaction, WorldRecord } from "./world-record.ts";

/** Milliseconds within which a lane gives a job to a node if nothing hinders it. */
const promptMs = 10_000;
/** Milliseconds that delayed work may take to resume after a fault. */
const recoverMs = 10_000;
/** The same after the database was restored, since the workers have to catch up first. */
const recoverBackupMs = 30_000;

/** The deepest reorg that a plan contains. */
const maxReorgDepth = 8;
/**
 * Minimum time from landing on Solana until finality. A reorg may put a transaction in the place of a block that is
 * `maxReorgDepth` slots old.
 */
const minFinalityMs = (pace.solana.finalitySlots - maxReorgDepth) * pace.solana.slotMs;

export type Recorded = {
	plan: Plan;
	record: WorldRecord;
	swaps: readonly SimSwap[];
	pool: Pick<DatabasePool, "query">;
	/** The time at which the plan's time 0 was. */
	planStartMs: number;
};

/** Returns violations of the rules for a world's course that cannot be checked from its end alone. */
export async function checkRecord(recorded: Recorded): Promise<string[]> {
	const journal = await readJournal(recorded.pool);
	const rows = await readRows(recorded.pool);
	return [
		...checkJournal(recorded),
		...checkNonces(recorded),
		...checkReplacements(recorded),
		...(await checkReleases(recorded, journal)),
		...(await checkRefunds(recorded)),
		...checkFailures(recorded, rows),
		...checkPrices(recorded, rows),
		...(await checkLosses(recorded)),
		...(await checkPromptness(recorded, journal)),
	];
}

type Journal = Map<Hex, { kind: string; orderIds: Hex[] }>;

async function readJournal(pool: Recorded["pool"]): Promise<Journal> {
	const { rows } = await pool.query<{ hash: Buffer; kind: string; jobs: { orderId?: Hex }[] }>(
		"select hash, kind, jobs from lane_transactions order by chain_id, relayer, nonce, attempt",
	);
	return new Map(
		rows.map(({ hash, kind, jobs }) => [
			bytesToHex(hash),
			{ kind, orderIds: jobs.flatMap(({ orderId }) => orderId ?? []) },
		]),
	);
}

/** Checks that only bytes that are in the books are ever sent. */
function checkJournal({ record: { sent } }: Recorded): string[] {
	const unwritten = sent.filter(({ isWritten }) => !isWritten);
	return [...new Set(unwritten.map(({ hash }) => hash))].map(
		(hash) => `${hash} was sent before it was in the books`,
	);
}

/** Checks I11: one live set of jobs per relayer nonce. */
function checkNonces({ plan, record: { sent, restoredAtMs } }: Recorded): string[] {
	const violations = new Set<string>();
	const calls = new Map<string, SentTransaction>();
	const known = new Set<Hex>();
	for (const transaction of sent) {
		const { chain, from, nonce, to, data, hash, spentNonce, attempt, atMs } = transaction;
		const about = `nonce ${nonce} of ${from} on ${chain}`;
		const isToldLate = plan.faults.some(
			(fault) => fault.kind === "rpc" && fault.how === "stale" && fault.chain === chain,
		);
		// Restored books may list a nonce as signed and not sent although it was sent and is spent. A further attempt at it
		// has the same jobs or none, and the chain refuses it.
		const isRetry = attempt !== undefined && attempt > 0;
		if (!known.has(hash) && nonce < spentNonce && !isToldLate && !isRetry)
			violations.add(`I11: ${about} was spent, but is signed again`);
		known.add(hash);
		// A transaction to itself is a cancel.
		if (to === from) continue;
		const first = calls.get(about);
		if (!first) calls.set(about, transaction);
		else if (restoredAtMs.some((restored) => restored >= first.atMs && restored <= atMs)) {
			// The restore erased the first one, so the lane has no record of it.
			calls.set(about, transaction);
		} else if (first.to !== to || first.data !== data)
			violations.add(`I11: ${about} is signed for other jobs`);
	}
	return [...violations];
}

/** Checks that no call is sent again for a higher fee before the chain has made enough blocks without it. */
function checkReplacements({ plan, record: { sent, restoredAtMs } }: Recorded): string[] {
	const violations = new Set<string>();
	const newest = new Map<string, SentTransaction>();
	const known = new Set<Hex>();
	for (const transaction of sent) {
		const { chain, from, nonce, to, hash, blockNumber, atMs } = transaction;
		if (known.has(hash)) continue;
		known.add(hash);
		const about = `nonce ${nonce} of ${from} on ${chain}`;
		const before = newest.get(about);
		newest.set(about, transaction);
		// A job that is late is cancelled immediately. Restored books do not contain when a transaction was sent.
		const isCancel = to === from || before?.to === from;
		const isForgotten = restoredAtMs.some(
			(restored) => before && restored >= before.atMs && restored <= atMs,
		);
		const isToldLate = plan.faults.some(
			(fault) => fault.kind === "rpc" && fault.how === "stale" && fault.chain === chain,
		);
		// A process that dies between sending a transaction and writing that down leaves a transaction that seems unsent.
		const isUnwritten = plan.faults.some(
			(fault) => fault.kind === "crash" && fault.at === "broadcast" && fault.process === before?.process,
		);
		if (!before || isCancel || isForgotten || isToldLate || isUnwritten) continue;
		const waited = blockNumber - before.blockNumber;
		if (waited < pace.evm.replaceAfterBlocks) violations.add(`${about} is replaced after ${waited} blocks`);
	}
	return [...violations];
}

/** Checks I5: nothing is released before its delivery is final. */
async function checkReleases({ record, swaps, pool }: Recorded, journal: Journal): Promise<string[]> {
	const { rows } = await pool.query<{ order_id: Buffer; block_number: number }>(
		"select order_id, block_number from chain_events where name = 'Filled' and order_id is not null order by 1",
	);
	const filledAt = new Map(rows.map((row) => [bytesToHex(row.order_id), row.block_number]));
	const violations = new Set<string>();
	for (const { hash, atMs } of record.sent) {
		const { kind, orderIds } = journal.get(hash) ?? {};
		if (kind !== "release" || !orderIds) continue;
		for (const orderId of orderIds) {
			const swap = swaps.find((candidate) => candidate.orderId === orderId);
			const block = filledAt.get(orderId);
			if (!swap || block === undefined) continue;
			const final = record.finality.find(
				({ chain, finalized }) => chain === swap.plan.to && finalized >= block,
			);
			if (!final || final.atMs > atMs)
				violations.add(`I5: #${swap.index} is released before its delivery is final`);
		}
	}
	// Transactions sent on Solana are not recorded, but their slots are.
	const { rows: released } = await pool.query<{ order_id: Buffer; block_number: number }>(
		"select order_id, block_number from chain_events where name = 'Released' and order_id is not null order by 1",
	);
	for (const { order_id, block_number } of released) {
		const orderId = bytesToHex(order_id);
		const swap = swaps.find((candidate) => candidate.orderId === orderId);
		const block = filledAt.get(orderId);
		if (swap?.plan.from !== "solana" || swap.plan.to === "solana" || block === undefined) continue;
		const finalMs = (chain: ChainName, number: number) =>
			record.finality.find((at) => at.chain === chain && at.finalized >= number)?.atMs;
		const landedMs = (finalMs("solana", block_number) ?? Number.POSITIVE_INFINITY) - minFinalityMs;
		if (landedMs < (finalMs(swap.plan.to, block) ?? Number.POSITIVE_INFINITY))
			violations.add(`I5: #${swap.index} is released before its delivery is final`);
	}
	return [...violations];
}

/** Checks I5: an order that is refunded early can no longer be filled. */
async function checkRefunds({ swaps, pool }: Recorded): Promise<string[]> {
	const { rows } = await pool.query<{ swap_id: string; at: Date }>(
		`select swap_id, min(at) as at from swap_events e join swaps s on s.id = e.swap_id
		where fact = 'refunding' and status = 'refunded' and not exists (
			select from chain_events c where c.order_id = s.order_id and c.name = 'Voided'
		) group by swap_id order by swap_id`,
	);
	return rows.flatMap(({ swap_id, at }) => {
		const swap = swaps.find(({ uuid }) => uuid === swap_id);
		if (!swap?.order || swap.plan.from === swap.plan.to) return [];
		const { fillDeadline } = unpackDeadlines(swap.order.deadlines);
		const isOpenToFill = at.getTime() < Number(fillDeadline) * 1_000;
		return isOpenToFill ? [`I5: #${swap.index} is refunded, although it could still be filled`] : [];
	});
}

type Row = { id: string; status: string; output: bigint; updated_at: Date; is_rebuilt: boolean };

async function readRows(pool: Recorded["pool"]): Promise<Map<string, Row>> {
	const { rows } = await pool.query<Row>(
		`select id, status, output, ended_at as updated_at,
			exists (select from swap_events e where e.swap_id = s.id and fact = 'rebuilt') as is_rebuilt
		from swaps s order by id`,
	);
	return new Map(rows.map((row) => [row.id, row]));
}

/** Checks I8: no swap has failed while its order could still be opened. */
function checkFailures({ swaps, record }: Recorded, rows: ReadonlyMap<string, Row>): string[] {
	return swaps.flatMap(({ index, uuid, order, op }) => {
		const row = uuid && rows.get(uuid);
		if (!row || !order || row.status !== "failed") return [];
		const endedMs = row.updated_at?.getTime() ?? Number.POSITIVE_INFINITY;
		if (op && "kind" in op) {
			// The record has slots, and a block's height is never more than its slot.
			const isDead = record.finality.some(
				({ chain, finalized, atMs }) =>
					chain === "solana" && BigInt(finalized) > op.lastValidBlockHeight && atMs <= endedMs,
			);
			return isDead ? [] : [`I8: #${index} has failed while its transaction could land`];
		}
		const { openDeadline } = unpackDeadlines(order.deadlines);
		return endedMs <= Number(openDeadline) * 1_000 ? [`I8: #${index} has failed before its deadline`] : [];
	});
}

/** Checks that the minimum output that a wallet signs is not more than its slippage allows, to the last unit. */
function checkPrices({ swaps }: Recorded, rows: ReadonlyMap<string, Row>): string[] {
	return swaps.flatMap(({ index, uuid, order, plan }) => {
		const row = uuid && rows.get(uuid);
		// Only the minimum is known of a swap that was rebuilt from the chain.
		if (!row || !order || row.is_rebuilt) return [];
		// The desk's default slippage, because the callers here request none.
		const slippageBps = plan.input === "stable" && plan.output === "stable" ? 50n : 300n;
		const isTooMuch =
			order.minOutput > 1n && order.minOutput * 10_000n > row.output * (10_000n - slippageBps);
		return isTooMuch
			? [`#${index} promises ${order.minOutput} of ${row.output}: more than its slippage allows`]
			: [];
	});
}

/** Checks that the only losses are deliveries for deposits whose own chain dropped blocks. */
async function checkLosses({ plan, swaps, pool }: Recorded): Promise<string[]> {
	const { rows } = await pool.query<{ order_id: Buffer | null }>(
		`select distinct p.order_id from postings p join entries e on e.posting_id = p.id
		where e.account = 'loss' order by 1`,
	);
	return rows.flatMap(({ order_id }) => {
		const orderId = order_id && bytesToHex(order_id);
		const swap = swaps.find((candidate) => candidate.orderId === orderId);
		const isDropped = plan.faults.some((fault) => fault.kind === "reorg" && fault.chain === swap?.plan.from);
		return isDropped ? [] : [`#${swap?.index} is lost, although its chain dropped nothing`];
	});
}

type QueuedJob = { swap_id: string; kind: string; created_at: Date };

/** Returns the jobs that succeeded at the first try. */
async function readJobs(pool: Recorded["pool"]): Promise<QueuedJob[]> {
	const { rows } = await pool.query<QueuedJob>(
		`select swap_id, kind, created_at from jobs where kind in ('open', 'fill') and state = 'done'
			and failures = 0 and not_before_block = 0 order by swap_id, kind`,
	);
	return rows;
}

/** Checks that a lane gives a job to a node soon, regardless of what the chain does with the jobs before it. */
async function checkPromptness(
	{ plan, record, swaps, pool, planStartMs }: Recorded,
	journal: Journal,
): Promise<string[]> {
	const firstSent = new Map<string, number>();
	for (const { hash, atMs } of record.sent) {
		const { kind, orderIds = [] } = journal.get(hash) ?? {};
		for (const orderId of orderIds) {
			const job = `${kind} ${orderId}`;
			if (!firstSent.has(job)) firstSent.set(job, atMs - planStartMs);
		}
	}
	const whiles = forgottenWhiles(plan);
	const isPrompt = (chain: ChainName, fromMs: number, sentMs: number) => {
		const dueMs = fromMs + promptMs;
		const isForgotten = whiles.some((lost) => dueMs >= lost.fromMs && fromMs <= lost.untilMs);
		if (sentMs <= dueMs || isForgotten || chain === "solana") return true;
		if (areLanesFull(record, chain, planStartMs + dueMs)) return true;
		return plan.faults.some((fault) => hinders(fault, chain, { fromMs, dueMs, faults: plan.faults }));
	};
	const violations = new Set<string>();
	for (const { index, orderId, submittedAtMs, plan: swap } of swaps) {
		const isExpected = swap.behaviour === "plain" || swap.behaviour === "stale-authorization";
		if (!isExpected || !orderId || submittedAtMs === undefined) continue;
		const sentMs = firstSent.get(`open ${orderId}`) ?? Number.POSITIVE_INFINITY;
		if (!isPrompt(swap.from, submittedAtMs - planStartMs, sentMs))
			violations.add(`#${index} was submitted, but its op was not sent within ${promptMs / 1_000} s`);
	}
	for (const { swap_id, kind, created_at } of await readJobs(pool)) {
		const swap = swaps.find(({ uuid }) => uuid === swap_id);
		const sentMs = firstSent.get(`${kind} ${swap?.orderId}`);
		if (!swap || sentMs === undefined) continue;
		const chain = kind === "open" ? swap.plan.from : swap.plan.to;
		if (!isPrompt(chain, created_at.getTime() - planStartMs, sentMs))
			violations.add(`#${swap.index}: its ${kind} was queued, but not sent within ${promptMs / 1_000} s`);
	}
	return [...violations];
}

/** The number of transactions that nodes keep per account, less the places reserved for releases. */
const maxUnderWay = 12;

/** Returns true if each relayer of the chain has as many transactions in flight as it may have. */
function areLanesFull({ sent, spent }: WorldRecord, chain: ChainName, atMs: number): boolean {
	const relayers = new Map<Hex, number>();
	for (const { from, nonce, ...one } of sent) {
		if (one.chain === chain && one.atMs <= atMs)
			relayers.set(from, Math.max(nonce + 1, relayers.get(from) ?? 0));
	}
	return (
		relayers.size === relayersPerChain &&
		[...relayers].every(([from, signed]) => {
			const known = spent.filter((one) => one.chain === chain && one.from === from && one.atMs <= atMs);
			return signed - (known.at(-1)?.count ?? 0) >= maxUnderWay;
		})
	);
}

/** Returns the periods that restored books do not cover, with the time to catch up. There is one backup, the newest. */
function forgottenWhiles({ faults }: Plan): { fromMs: number; untilMs: number }[] {
	const restores = faults.filter((fault) => fault.kind === "restore");
	const backupsMs = restores.map(({ atMs, backMs }) => Math.max(0, atMs - backMs));
	return restores.map(({ atMs }) => ({
		fromMs: Math.max(...backupsMs.filter((backupMs) => backupMs <= atMs)),
		untilMs: atMs + recoverBackupMs,
	}));
}

/** Returns true if the fault may keep workers from sending their transactions in this period. */
function hinders(
	fault: Fault,
	chain: ChainName,
	{ fromMs, dueMs, faults }: { fromMs: number; dueMs: number; faults: readonly Fault[] },
): boolean {
	const lastsMs = lastingMs(fault, faults);
	if (fault.atMs > dueMs || fault.atMs + lastsMs + recoverMs < fromMs) return false;
	switch (fault.kind) {
		case "rpc":
			// Slow and unreachable nodes of the other chains count too.
			return (
				fault.of === "workers" && (fault.chain === chain || fault.how === "slow" || fault.how === "down")
			);
		case "foreign-transaction":
			return fault.chain === chain;
		case "pokes":
			return fault.how === "lost";
		case "engine":
		case "crash":
		case "database":
		case "restore":
			return true;
		// The way a chain treats transactions that it already has delays no other transaction.
		default:
			return false;
	}
}

/** Returns how long the fault itself lasts. */
function lastingMs(fault: Fault, faults: readonly Fault[]): number {
	if ("forMs" in fault) return fault.forMs;
	if (fault.kind === "crash") return fault.downMs;
	if (fault.kind !== "foreign-transaction") return 0;
	// The foreign transaction pays so much that nodes take nothing else for its nonce. The relayer's lane sends nothing
	// more until a block includes it, which takes as long as blocks may leave it out.
	let untilMs = fault.atMs;
	for (const other of faults.toSorted((a, b) => a.atMs - b.atMs)) {
		const isHolding = other.kind === "hold-back" && other.chain === fault.chain && other.atMs <= untilMs;
		if (isHolding) untilMs = Math.max(untilMs, other.atMs + other.forMs);
	}
	return untilMs - fault.atMs;
}
