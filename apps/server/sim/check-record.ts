import { unpackDeadlines } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { DatabasePool } from "../src/store/database.ts";
import type { ChainName, Fault, Plan } from "./plan.ts";
import type { SimSwap } from "./sim-wallets.ts";
import type { SentTransaction, WorldRecord } from "./world-record.ts";

/** How soon a lane gives a job to a node where nobody keeps it from that. */
const promptMs = 10_000;
/** What a fault delayed may take so long to come back to. */
const recoverMs = 10_000;
/** Likewise after the database was set back: until then workers catch up. */
const recoverBackupMs = 30_000;

export type Recorded = {
	plan: Plan;
	record: WorldRecord;
	swaps: readonly SimSwap[];
	pool: Pick<DatabasePool, "query">;
	/** When the plan's time 0 was. */
	planStartMs: number;
};

/** What must hold of a world's course, and cannot be seen at its end alone. */
export async function checkRecord(recorded: Recorded): Promise<string[]> {
	const journal = await readJournal(recorded.pool);
	const rows = await readRows(recorded.pool);
	return [
		...checkJournal(recorded),
		...checkNonces(recorded),
		...(await checkReleases(recorded, journal)),
		...(await checkRefunds(recorded)),
		...checkFailures(recorded, rows),
		...checkPrices(recorded, rows),
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

/** Only bytes that are written down are ever sent. */
function checkJournal({ record: { sent } }: Recorded): string[] {
	const unwritten = sent.filter(({ isWritten }) => !isWritten);
	return [...new Set(unwritten.map(({ hash }) => hash))].map(
		(hash) => `${hash} was sent before it was in the books`,
	);
}

/** I11: one live set of jobs per relayer nonce. */
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
		// Books that were set back may have a nonce as signed and not sent, though it was sent and is spent: another attempt
		// at it has the same jobs or none, and the chain refuses it.
		const isRetry = attempt !== undefined && attempt > 0;
		if (!known.has(hash) && nonce < spentNonce && !isToldLate && !isRetry)
			violations.add(`I11: ${about} was spent, and is signed again`);
		known.add(hash);
		// A cancel.
		if (to === from) continue;
		const first = calls.get(about);
		if (!first) calls.set(about, transaction);
		else if (restoredAtMs.some((restored) => restored >= first.atMs && restored <= atMs)) {
			// Whoever forgot the first one cannot know.
			calls.set(about, transaction);
		} else if (first.to !== to || first.data !== data)
			violations.add(`I11: ${about} is signed for other jobs`);
	}
	return [...violations];
}

/** I5: nothing is released before its delivery is final. */
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
	return [...violations];
}

/** I5: what is refunded early cannot be filled any more. */
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
		const isOpenToFill = swap.plan.to === "solana" || at.getTime() < Number(fillDeadline) * 1_000;
		return isOpenToFill ? [`I5: #${swap.index} is refunded, and could still be filled`] : [];
	});
}

type Row = { id: string; status: string; output: bigint; updated_at: Date };

async function readRows(pool: Recorded["pool"]): Promise<Map<string, Row>> {
	const { rows } = await pool.query<Row>(
		"select id, status, output, ended_at as updated_at from swaps order by id",
	);
	return new Map(rows.map((row) => [row.id, row]));
}

/** I8: nothing has failed that could still be opened. */
function checkFailures({ swaps }: Recorded, rows: ReadonlyMap<string, Row>): string[] {
	return swaps.flatMap(({ index, uuid, order, plan }) => {
		const row = uuid && rows.get(uuid);
		if (!row || !order || row.status !== "failed" || plan.from === "solana") return [];
		const { openDeadline } = unpackDeadlines(order.deadlines);
		const isEarly = row.updated_at.getTime() <= Number(openDeadline) * 1_000;
		return isEarly ? [`I8: #${index} has failed before its deadline`] : [];
	});
}

/** The least that a wallet signs for is not more than its slippage allows, to the last unit. */
function checkPrices({ swaps, record }: Recorded, rows: ReadonlyMap<string, Row>): string[] {
	// A row that was lost and made again from the chain has only the minimum.
	if (record.restoredAtMs.length > 0) return [];
	return swaps.flatMap(({ index, uuid, order, plan, outcome, isLost }) => {
		const row = uuid && rows.get(uuid);
		// Of an order that nobody submitted, or whose row was lost, only the minimum is known.
		if (!row || !order || outcome !== "submitted" || isLost) return [];
		// As the desk says where the caller does not.
		const slippageBps = plan.input === "stable" && plan.output === "stable" ? 50n : 300n;
		const isTooMuch =
			order.minOutput > 1n && order.minOutput * 10_000n > row.output * (10_000n - slippageBps);
		return isTooMuch
			? [`#${index} promises ${order.minOutput} of ${row.output}: more than its slippage allows`]
			: [];
	});
}

type QueuedJob = { swap_id: string; kind: string; created_at: Date };

/** Jobs that went well at the first try. */
async function readJobs(pool: Recorded["pool"]): Promise<QueuedJob[]> {
	const { rows } = await pool.query<QueuedJob>(
		`select swap_id, kind, created_at from jobs where kind in ('open', 'fill') and state = 'done'
			and strikes = 0 and not_before_block = 0 order by swap_id, kind`,
	);
	return rows;
}

/** A lane gives a job to a node soon, whatever the chain does with those before it. */
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
	// Of what was sent before that the books say nothing any more.
	const knownFromMs = Math.max(
		Number.NEGATIVE_INFINITY,
		...record.restoredAtMs.map((atMs) => atMs - planStartMs + recoverBackupMs),
	);
	const isPrompt = (chain: ChainName, fromMs: number, sentMs: number) => {
		const dueMs = fromMs + promptMs;
		if (sentMs <= dueMs || fromMs < knownFromMs || chain === "solana") return true;
		return plan.faults.some((fault) => hinders(fault, chain, { fromMs, dueMs, faults: plan.faults }));
	};
	const violations = new Set<string>();
	for (const { index, orderId, submittedAtMs, plan: swap } of swaps) {
		const isExpected = swap.behaviour === "plain" || swap.behaviour === "stale-authorization";
		if (!isExpected || !orderId || submittedAtMs === undefined) continue;
		const sentMs = firstSent.get(`open ${orderId}`) ?? Number.POSITIVE_INFINITY;
		if (!isPrompt(swap.from, submittedAtMs - planStartMs, sentMs))
			violations.add(`#${index} was submitted, and its op was not sent within ${promptMs / 1_000} s`);
	}
	for (const { swap_id, kind, created_at } of await readJobs(pool)) {
		const swap = swaps.find(({ uuid }) => uuid === swap_id);
		const sentMs = firstSent.get(`${kind} ${swap?.orderId}`);
		if (!swap || sentMs === undefined) continue;
		const chain = kind === "open" ? swap.plan.from : swap.plan.to;
		if (!isPrompt(chain, created_at.getTime() - planStartMs, sentMs))
			violations.add(`#${swap.index}: its ${kind} was queued, and not sent within ${promptMs / 1_000} s`);
	}
	return [...violations];
}

/** Whether a fault may keep workers from sending what they have to, in this while. */
function hinders(
	fault: Fault,
	chain: ChainName,
	{ fromMs, dueMs, faults }: { fromMs: number; dueMs: number; faults: readonly Fault[] },
): boolean {
	const lastsMs = lastingMs(fault, faults);
	if (fault.atMs > dueMs || fault.atMs + lastsMs + recoverMs < fromMs) return false;
	switch (fault.kind) {
		case "rpc":
			return fault.of === "workers" && fault.chain === chain;
		case "foreign-transaction":
			return fault.chain === chain;
		case "signals":
			return fault.how === "lost";
		case "crash":
		case "database":
		case "restore":
			return true;
		// What a chain does with what it was given holds nobody up.
		default:
			return false;
	}
}

/** How long a fault itself lasts. */
function lastingMs(fault: Fault, faults: readonly Fault[]): number {
	if ("forMs" in fault) return fault.forMs;
	if (fault.kind === "crash") return fault.downMs;
	if (fault.kind !== "foreign-transaction") return 0;
	// It pays so much that nodes take nothing else for its nonce, and the relayer's lane gives them nothing more before it
	// is in a block: as long as blocks may leave it out.
	let untilMs = fault.atMs;
	for (const other of faults.toSorted((a, b) => a.atMs - b.atMs)) {
		const isHolding = other.kind === "hold-back" && other.chain === fault.chain && other.atMs <= untilMs;
		if (isHolding) untilMs = Math.max(untilMs, other.atMs + other.forMs);
	}
	return untilMs - fault.atMs;
}
