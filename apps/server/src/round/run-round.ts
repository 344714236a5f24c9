import type { Milliseconds, SwapUuid } from "@geoswap/protocol";
import { type Database, type DatabasePool, inTransaction } from "../database/database.ts";
import type { Decision, Fact } from "../swap/decide/decision.ts";
import { attestersWanted, type PolicyConfig } from "../swap/decide/swap-policy.ts";
import { readDueSwaps } from "../swap/due/due-swaps.ts";
import { dropStrayWaits, putOffFailed, retrySoon, type SeenSwap } from "../swap/due/write-waits.ts";
import type { Log } from "../telemetry/log.ts";
import { type Decided, decideSwap } from "./decide-swap.ts";
import { type Look, loadSwapFacts, lockSwaps } from "./load-swap-facts.ts";
import { planChanges } from "./plan-changes.ts";
import { recordDecisions, type SwapObserver } from "./record-decisions.ts";
import { type DecisionDesk, needsReservation, takeHolds } from "./take-holds.ts";
import { type Applied, appliedOf, type RoundPoke, writePlans } from "./write-plans.ts";

export type RoundOptions = SwapObserver & {
	config: PolicyConfig;
	pool: DatabasePool;
	desk: DecisionDesk;
	/** Called after the queued jobs are committed, with each party of a chain once per run. */
	poke: (pokes: readonly RoundPoke[]) => Promise<void>;
	/** The maximum number of swaps that are handled in one transaction. */
	batchSize?: number;
	nowMs: () => Milliseconds;
	log: Log;
};

/** `hasMore`: some swaps are still due, so another run is needed. */
export type RoundRun = { ran: number; hasMore: boolean };

const defaultBatchSize = 60;
/**
 * Number of batches after which a run ends, because its caller waits for the result, and others wait for their turn.
 */
const maxBatches = 50;
/**
 * Lock timeout of a batch. Another process may hold a row that one of its swaps needs, while others, like a chain's
 * follower, wait for rows that the batch holds. It is longer than PostgreSQL takes to find a deadlock.
 */
const batchLockMs = 1_500;
/** Lock timeout after that, when each swap is tried alone. Swaps that are not blocked must not wait for the others. */
const aloneLockMs = 100;
/** The maximum number of retries of a batch that PostgreSQL aborted to resolve a deadlock. */
const maxDeadlocks = 5;
/**
 * Number of slow swaps in a row after which the rest are not tried one by one, because the next run begins with others.
 */
const maxTimeouts = 2;

/**
 * Reads the swaps that are due, decides and writes, until a read that began after the last write finds none. All its
 * state is in the store and it calls no node, so it can be repeated from any point. Any number of runs may be
 * concurrent, because each swap is held by one of them, from before its facts are read until what follows from them is
 * committed.
 */
export function createRound(options: RoundOptions): () => Promise<RoundRun> {
	const { pool, batchSize = defaultBatchSize } = options;
	return async () => {
		const pokes = new Map<string, RoundPoke>();
		const note = (poke: RoundPoke) => void pokes.set(`${poke.who}:${poke.chainId}`, poke);
		/** Swaps that are locked, or that need locked rows. The holder of the lock handles them, or leaves them due. */
		const others = new Set<SwapUuid>();
		let ran = 0;
		let hasMore = true;
		try {
			for (let batches = 0; hasMore && batches < maxBatches; batches++) {
				const { swapIds, openChainIds } = await readDueSwaps(pool, { limit: batchSize, except: [...others] });
				for (const chainId of openChainIds) note({ who: "lanes", chainId });
				hasMore = swapIds.length > 0;
				if (!hasMore) break;
				const { done, ran: more } = await runSwaps(options, { swapIds, note });
				ran += more;
				const held = swapIds.filter((id) => !done.has(id));
				for (const id of held) others.add(id);
				if (held.length > 0) await dropStrayWaits(pool, held);
			}
		} finally {
			if (pokes.size > 0) await options.poke([...pokes.values()]);
		}
		return { ran, hasMore };
	};
}

/** `done`: the swaps that were not blocked. `ran`: how many of them were due. */
type Outcome = { done: Set<SwapUuid>; ran: number };
/** Called with a poke as soon as the work it announces is committed. */
type Note = (poke: RoundPoke) => void;

/** Runs all swaps in one transaction. A swap that needs it, or each one if that fails, gets a separate transaction. */
async function runSwaps(
	options: RoundOptions,
	{ swapIds, note }: { swapIds: readonly SwapUuid[]; note: Note },
): Promise<Outcome> {
	const { pool, log } = options;
	const done = new Set<SwapUuid>();
	let ran = 0;
	const marks = new Map<SwapUuid, number>();
	const run = async (ids: readonly SwapUuid[], lockTimeoutMs: Milliseconds) => {
		const batch = await runBatch(options, { swapIds: ids, lockTimeoutMs, marks, note });
		for (const id of batch.done) done.add(id);
		ran += batch.ran;
		return batch;
	};
	let alone = swapIds;
	let lockTimeoutMs = batchLockMs;
	try {
		({ alone } = await run(swapIds, lockTimeoutMs));
	} catch (error) {
		if (!isOfOneSwap(error)) throw error;
		log.warn({ err: error, swaps: swapIds.length }, "a round failed; retrying its swaps one at a time");
		lockTimeoutMs = aloneLockMs;
	}
	const ranTogether = ran;
	const failures: (SeenSwap & { error: unknown })[] = [];
	for (const swapId of alone) {
		try {
			await run([swapId], lockTimeoutMs);
		} catch (error) {
			if (!isOfOneSwap(error)) throw error;
			failures.push({ swapId, mark: marks.get(swapId), error });
			if (ran === ranTogether && failures.filter(isSlow).length >= maxTimeouts) break;
		}
	}
	const locked = failures.filter(({ error }) => isLockTimeout(error));
	const faulty = failures.filter(({ error }) => !isLockTimeout(error));
	for (const { swapId, error } of locked) {
		log.warn({ swapId, err: error }, "a swap's rows are locked; retrying soon");
	}
	await retrySoon(pool, locked);
	const [first] = faulty;
	if (first && ran === ranTogether && areAllAlike(faulty)) {
		// They are put off too. If they were more than a batch, no other swap would ever have its turn.
		await retrySoon(pool, faulty);
		throw first.error;
	}
	for (const { swapId, error } of faulty) {
		log.error({ swapId, err: error }, "a swap could not be processed; retrying later");
		done.add(swapId);
	}
	await putOffFailed(pool, faulty);
	return { done, ran: ran + faulty.length };
}

/**
 * Returns whether the swaps are not at fault, because several have failed, and the database reports the same for each.
 */
function areAllAlike(failures: readonly { error: unknown }[]): boolean {
	const codes = new Set(failures.map(({ error }) => codeOf(error)));
	return failures.length > 1 && codes.size === 1 && !codes.has(undefined);
}

type Batch = { done: SwapUuid[]; ran: number; alone: SwapUuid[] };
type BatchOptions = {
	swapIds: readonly SwapUuid[];
	lockTimeoutMs: Milliseconds;
	/** Receives the marks that are read, even if the batch fails after that. */
	marks: Map<SwapUuid, number>;
};

async function runBatch(
	options: RoundOptions,
	{ note, ...batch }: BatchOptions & { note: Note },
): Promise<Batch> {
	const startMs = options.nowMs();
	for (let deadlocks = 0; ; deadlocks++) {
		try {
			const { held, failed, alone, applied } = await inTransaction(options.pool, (db) =>
				applyBatch(db, options, batch),
			);
			for (const poke of applied.flatMap(({ pokes }) => pokes)) note(poke);
			const nowMs = options.nowMs();
			for (const one of applied) tell(options, one, { startMs, nowMs });
			// Not in the same transaction, because waits are locked before other rows that the batch may have locked.
			await putOffFailed(options.pool, failed);
			return {
				done: held.filter((id) => !alone.includes(id)),
				ran: applied.length + failed.length,
				alone,
			};
		} catch (error) {
			if (!isDeadlock(error) || deadlocks >= maxDeadlocks) throw error;
			options.log.info({ err: error }, "a round was rolled back by a deadlock; retrying");
		}
	}
}

/** Locks swaps, reads their facts, decides, takes what the decisions need, plans and writes. */
async function applyBatch(
	db: Database,
	options: RoundOptions,
	{ swapIds, lockTimeoutMs, marks }: BatchOptions,
): Promise<{ held: SwapUuid[]; failed: SeenSwap[]; alone: SwapUuid[]; applied: Applied[] }> {
	const { desk, config } = options;
	const held = await lockSwaps(db, { swapIds, lockTimeoutMs });
	if (held.length === 0) return { held, failed: [], alone: [], applied: [] };
	const nowMs = options.nowMs();
	const looks = await loadSwapFacts(db, {
		swapIds: held,
		attestersOf: (order) => attestersWanted(config, order),
		nowMs,
	});
	for (const { swapId, wait } of looks) marks.set(swapId, wait.mark);
	const { decided, failed } = decideAll(options, looks, nowMs);
	// Without a price nothing is reserved, so such a swap need not be a separate batch.
	const isAlone = (one: Decided) =>
		held.length > 1 && needsReservation(one) && desk.isPriceable(one.swap.order);
	const alone = decided.filter(isAlone).map(({ swap }) => swap.id);
	const permitted = await takeHolds(
		db,
		decided.filter((one) => !isAlone(one)),
		desk,
	);
	const plans = permitted.map(planChanges);
	await writePlans(db, plans, nowMs);
	return { held, failed, alone, applied: plans.map(appliedOf) };
}

/** Decides about each swap separately, so that a fault in one swap does not stop the others. */
function decideAll(
	options: RoundOptions,
	looks: readonly Look[],
	nowMs: Milliseconds,
): { decided: Decided[]; failed: SeenSwap[] } {
	const decided: Decided[] = [];
	const failed: SeenSwap[] = [];
	for (const look of looks) {
		try {
			decided.push(decideSwap(options.config, look, nowMs));
		} catch (err) {
			const { swapId, wait } = look;
			options.log.error({ swapId, err }, "a swap could not be processed; retrying later");
			failed.push({ swapId, mark: wait.mark });
		}
	}
	return { decided, failed };
}

function tell(
	options: RoundOptions,
	applied: Applied,
	times: { startMs: Milliseconds; nowMs: Milliseconds },
): void {
	const { log } = options;
	const {
		swap: { id: swapId },
		decision,
		heldBy,
		isNews,
		refused,
	} = applied;
	recordDecisions(options, { applied, ...times });
	const actions = decision.actions.map((action) => action.do);
	const givingUp = decision.actions.find((action) => action.do === "give-up")?.code;
	if (!isNews && !decision.isEnd && actions.length === 0) return;
	if (heldBy) log.warn({ swapId, fact: decision.fact }, heldBy);
	else {
		const why = refused.length > 0 ? { givingUp, refused } : { givingUp };
		log[isForPerson(decision) ? "error" : "info"]({ swapId, actions, ...why }, decision.fact);
	}
}

/**
 * Returns whether an operator must act, because the output was delivered and the input is not the service's, a chain is
 * not configured, or an input was released without a delivery.
 */
function isForPerson({ fact, isEnd }: Decision): boolean {
	return alarms.has(fact) || (alarmsAtEnd.has(fact) && isEnd);
}

const alarms = new Set<Fact>(["delivered-and-refunded", "chain-unconfigured"]);
const alarmsAtEnd = new Set<Fact>(["delivered-unopened", "released-undelivered"]);

function isDeadlock(error: unknown): boolean {
	return codeOf(error) === "40P01" || codeOf(error) === "40001";
}

function isLockTimeout(error: unknown): boolean {
	return codeOf(error) === "55P03";
}

/** Returns whether the database ended a statement that took too long. */
function isSlow({ error }: { error: unknown }): boolean {
	return codeOf(error) === "57014";
}

/**
 * Returns whether one swap's rows may be the cause, because the database refused a statement for its contents, or
 * because it took too long. A lost connection, a deadlock, a shutdown, the state of the transaction (25), or a missing
 * table or right (42) is not caused by a swap. Unlike the system's codes for a lost connection, such as EPIPE, each of
 * PostgreSQL's has a digit.
 */
function isOfOneSwap(error: unknown): boolean {
	if (isSlow({ error })) return true;
	if (isDeadlock(error)) return false;
	const code = codeOf(error);
	return code === undefined ? !isLost(error) : /^(?!08|25|42|53|57|58)(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

function codeOf(error: unknown): string | undefined {
	const { code } = (error ?? {}) as { code?: unknown };
	return typeof code === "string" ? code : undefined;
}

/** Returns whether the connection was lost, by the message, because the driver's own errors have no PostgreSQL code. */
function isLost(error: unknown): boolean {
	return error instanceof Error && /connection|timeout|terminated|ended/i.test(error.message);
}
