import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";

/**
 * `breach`: an invariant does not hold. `finality`: a chain dropped final blocks. `operator`: an operator decided it.
 */
export type PauseCause = "breach" | "finality" | "operator";

/** A pause of a chain. Nothing new is sold from or to the chain while it is open. */
export type Pause = {
	chainId: number;
	cause: PauseCause;
	/** The explanation that callers and operators read. */
	reason: string;
	setBy: string;
	since: Date;
	/** The findings of an audit, each in its own words. */
	breaches: string[];
};

const columns = 'chain_id as "chainId", cause, reason, set_by as "setBy", since, breaches';

/**
 * Pauses a chain, unless a pause of that cause is open. Returns whether it is new. For broken finality, `since` is by
 * the database's clock, like the heads that it is compared with.
 */
export async function pauseChain(
	db: Database,
	{
		chainId,
		cause,
		reason,
		setBy = "geoswapd worker",
		nowMs,
	}: { chainId: number; cause: PauseCause; reason: string; setBy?: string; nowMs: Milliseconds },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`insert into pauses (chain_id, cause, reason, set_by, since)
		values ($1, $2, $3, $4, case when $2 = 'finality' then now() else to_timestamp($5::double precision) end)
		on conflict (chain_id, cause) where lifted_at is null do nothing`,
		[chainId, cause, reason, setBy, nowMs / 1_000],
	);
	return rowCount === 1;
}

/**
 * Pauses a chain for an audit's findings, or adds them to its open pause. Returns whether the pause is new. A finding
 * that was accepted meanwhile pauses nothing, because a pause may be lifted while an audit runs.
 */
export async function pauseForBreaches(
	db: Database,
	{
		chainId,
		reason,
		breaches,
		nowMs,
	}: { chainId: number; reason: string; breaches: readonly string[]; nowMs: Milliseconds },
): Promise<boolean> {
	const { rows } = await db.query<{ is_new: boolean }>(
		`insert into pauses (chain_id, cause, reason, set_by, since, breaches)
		select $1::bigint, 'breach', $2::text, 'geoswapd audit', to_timestamp($3::double precision), array_agg(breach)
		from unnest($4::text[]) as breach
		where not exists (
			select from pauses
			where chain_id = $1::bigint and cause = 'breach' and lifted_at is not null and breach = any(breaches)
		)
		having count(*) > 0
		on conflict (chain_id, cause) where lifted_at is null do update
		set breaches = pauses.breaches || array(select unnest(excluded.breaches) except select unnest(pauses.breaches))
		returning xmax = 0 as is_new`,
		[chainId, reason, nowMs / 1_000, breaches],
	);
	return rows[0]?.is_new ?? false;
}

/** Returns the findings that operators have accepted by lifting their pause. */
export async function readAcceptedBreaches(db: Database): Promise<Set<string>> {
	const { rows } = await db.query<{ breach: string }>(
		`select distinct unnest(breaches) as breach from pauses where cause = 'breach' and lifted_at is not null`,
	);
	return new Set(rows.map(({ breach }) => breach));
}

/** Returns the open pauses, by chain and age. */
export async function readPauses(db: Database): Promise<Pause[]> {
	const { rows } = await db.query<Pause>(
		`select ${columns} from pauses where lifted_at is null order by chain_id, since, cause`,
	);
	return rows;
}

/**
 * Lifts the pauses of a chain for one cause, or, without a cause, for any but broken finality. Lifting that takes back
 * what was final, so it has to be named. Returns the lifted pauses. A breach stays paused if it has more findings than
 * `seen`, because an audit may add to it at any time.
 */
export async function liftPauses(
	db: Database,
	{
		chainId,
		cause,
		by,
		reason,
		breaches = [],
		seen,
		nowMs,
	}: {
		chainId: number;
		cause?: PauseCause | undefined;
		by: string;
		reason: string;
		/** Further findings that are accepted by it. */
		breaches?: readonly string[];
		/** The findings that the operator who lifts it knows of; all there are if absent. */
		seen?: readonly string[] | undefined;
		nowMs: Milliseconds;
	},
): Promise<Pause[]> {
	const { rows } = await db.query<Pause>(
		namedParameters(
			`update pauses
			set lifted_at = to_timestamp($liftedAtUnixSeconds::double precision), lifted_by = $by, lifted_reason = $reason,
				breaches = breaches || case when cause = 'breach' then $breaches::text[] else '{}' end
			where chain_id = $chainId and lifted_at is null and cause = coalesce($cause::text, nullif(cause, 'finality'))
				and ($seen::text[] is null or breaches <@ $seen)
			returning ${columns}`,
			{
				chainId,
				cause: cause ?? null,
				liftedAtUnixSeconds: nowMs / 1_000,
				by,
				reason,
				breaches,
				seen: seen ?? null,
			},
		),
	);
	return rows;
}

export type LiftedPause = Pause & { liftedAt: Date; liftedBy: string; liftedReason: string };

/** Returns the last pauses that were lifted, newest first. */
export async function readLiftedPauses(db: Database, { limit }: { limit: number }): Promise<LiftedPause[]> {
	const { rows } = await db.query<LiftedPause>(
		`select ${columns}, lifted_at as "liftedAt", lifted_by as "liftedBy", lifted_reason as "liftedReason" from pauses
		where lifted_at is not null order by id desc limit $1`,
		[limit],
	);
	return rows;
}

/**
 * Returns what is known of a chain that no longer has a block that was final: nothing yet, that it is paused for this,
 * or that an operator has lifted that pause and so accepts the chain's current blocks.
 *
 * A lifted pause counts only for the head at which it was set, not for a head that was written since.
 */
export async function readFinalityBreak(
	db: Database,
	chainId: number,
): Promise<"unknown" | "paused" | "accepted"> {
	const { rows } = await db.query<{ is_lifted: boolean }>(
		`select lifted_at is not null as is_lifted from pauses p join chain_heads h using (chain_id)
		where chain_id = $1 and cause = 'finality' and (lifted_at is null or since >= h.updated_at)
		order by lifted_at nulls first limit 1`,
		[chainId],
	);
	const [row] = rows;
	if (!row) return "unknown";
	return row.is_lifted ? "accepted" : "paused";
}
