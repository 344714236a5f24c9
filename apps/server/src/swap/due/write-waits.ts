import type { Milliseconds, SwapUuid } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { WaitFor } from "../facts/facts.ts";

/** The state that a round leaves to the next one. */
export type NextWait = {
	swapId: SwapUuid;
	/** The swap's mark when the facts were read. */
	mark: number;
	wait: WaitFor;
	/** Time after which the swap is due in any case. */
	dueMs: Milliseconds;
	/** True if nothing is known to happen then, so the swap may be handled somewhat later, together with others. */
	isInCase: boolean;
	fact: string;
	idleRounds: number;
	/** The deposit to query a chain's second provider for; undefined if there is none. */
	ask: { chainId: number; deposit: object } | undefined;
};

/** Due times at which nothing is known to happen are aligned to this interval, so that their swaps share one round. */
const togetherSeconds = 30;

/**
 * Writes when each swap is due next. A swap that was marked since the facts were read stays due. Rows are locked in one
 * order.
 */
export async function writeWaits(db: Database, waits: readonly NextWait[]): Promise<void> {
	if (waits.length === 0) return;
	await db.query({
		name: "write-waits",
		...namedParameters(
			`with held as materialized (
				select swap_id from waits where swap_id = any($swapIds::uuid[]) order by swap_id for update
			)
			update waits w set head_chain_id = x.head_chain_id, head_number = x.head_number,
				finalized_chain_id = x.finalized_chain_id, finalized_number = x.finalized_number,
				due_at = case when w.mark <> x.mark then w.due_at
					when x.in_case then date_bin('${togetherSeconds} seconds',
						now() + x.due_ms * interval '1 millisecond' + interval '${togetherSeconds} seconds', 'epoch')
					else now() + x.due_ms * interval '1 millisecond' end,
				fact = x.fact, idle_rounds = x.idle_rounds, failed_rounds = 0,
				ask_chain_id = x.ask_chain_id, ask = coalesce(x.ask, w.ask)
			from held join unnest($swapIds::uuid[], $marks::bigint[], $headChainIds::bigint[], $headNumbers::bigint[],
				$finalizedChainIds::bigint[], $finalizedNumbers::bigint[], $dueMs::double precision[], $isInCase::boolean[],
				$facts::text[], $idleRounds::integer[], $askChainIds::bigint[], $asks::jsonb[])
				as x (swap_id, mark, head_chain_id, head_number, finalized_chain_id, finalized_number, due_ms, in_case, fact,
				idle_rounds, ask_chain_id, ask) using (swap_id)
			where w.swap_id = held.swap_id`,
			{
				swapIds: waits.map(({ swapId }) => swapId),
				marks: waits.map(({ mark }) => mark),
				headChainIds: waits.map(({ wait: { head } }) => head?.chainId ?? null),
				headNumbers: waits.map(({ wait: { head } }) => head?.number ?? null),
				finalizedChainIds: waits.map(({ wait: { finalized } }) => finalized?.chainId ?? null),
				finalizedNumbers: waits.map(({ wait: { finalized } }) => finalized?.number ?? null),
				dueMs: waits.map(({ dueMs }) => dueMs),
				isInCase: waits.map(({ isInCase }) => isInCase),
				facts: waits.map(({ fact }) => fact),
				idleRounds: waits.map(({ idleRounds }) => idleRounds),
				askChainIds: waits.map(({ ask }) => ask?.chainId ?? null),
				asks: waits.map(({ ask }) => (ask ? JSON.stringify(ask.deposit) : null)),
			},
		),
	});
}

/** A swap and its mark when its facts were read; undefined if they could not be read. */
export type SeenSwap = { swapId: SwapUuid; mark: number | undefined };

/** A swap over which rounds fail is tried again after 10 s, then less and less often. */
const failureMs = 10_000;
const maxFailureMs = 600_000;
/** A swap that is not at fault is tried again soon. */
const blamelessMs = 2_000;

/** Puts off swaps over which a round failed, each time for longer. */
export async function putOffFailed(db: Database, swaps: readonly SeenSwap[]): Promise<void> {
	await putOff(db, swaps, {
		failedRounds: "w.failed_rounds + 1",
		ms: `least(${failureMs} * 2 ^ least(w.failed_rounds, 10), ${maxFailureMs})`,
	});
}

/**
 * Postpones swaps for a moment if a round could not finish them for a reason that is not theirs. This does not count as
 * a failed round.
 */
export async function retrySoon(db: Database, swaps: readonly SeenSwap[]): Promise<void> {
	await putOff(db, swaps, { failedRounds: "w.failed_rounds", ms: String(blamelessMs) });
}

/**
 * Postpones swaps, unless marked since their facts were read. Skips a locked wait, because its holder may be marking
 * it.
 */
async function putOff(
	db: Database,
	swaps: readonly SeenSwap[],
	{ failedRounds, ms }: { failedRounds: string; ms: string },
): Promise<void> {
	if (swaps.length === 0) return;
	await db.query(
		`with held as materialized (
			select w.swap_id from waits w join unnest($1::uuid[], $2::bigint[]) as x (swap_id, mark)
				on x.swap_id = w.swap_id and (x.mark is null or x.mark = w.mark)
			where w.swap_id = any($1) order by w.swap_id for update of w skip locked
		)
		update waits w set failed_rounds = ${failedRounds}, head_chain_id = null, head_number = null,
			finalized_chain_id = null, finalized_number = null, due_at = now() + ${ms} * interval '1 millisecond'
		from held where w.swap_id = held.swap_id`,
		[swaps.map(({ swapId }) => swapId), swaps.map(({ mark }) => mark ?? null)],
	);
}

/**
 * Deletes waits that belong to no swap, or to one that has ended, because no round would ever take them. Locks an ended
 * swap while it deletes the wait. A transaction that begins the swap again locks it too, and inserts its wait after
 * that or has done so before. Skips swaps that another process has locked.
 */
export async function dropStrayWaits(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	await db.query(
		`with ended as materialized (
			select id from swaps where id = any($1::uuid[]) and ended_at is not null order by id for update skip locked
		)
		delete from waits w where w.swap_id = any($1) and (
			w.swap_id in (select id from ended)
			or not exists (select from swaps s where s.id = w.swap_id and s.id = any($1))
		)`,
		[swapIds],
	);
}
