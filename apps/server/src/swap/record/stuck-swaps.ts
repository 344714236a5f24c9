import type { Milliseconds, Seconds, SwapUuid } from "@geoswap/protocol";
import type { Config } from "../../config/config.ts";
import { finalitySecondsOf } from "../../config/finality-seconds.ts";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";

/** How long a chain takes, by its configuration. */
export type ChainPace = { chainId: number; openSeconds: Seconds; finalitySeconds: Seconds };

export function chainPaces(config: Pick<Config, "chains">): ChainPace[] {
	const finality = finalitySecondsOf(config);
	return config.chains.map(({ chainId, openSeconds, finalitySeconds }) => ({
		chainId,
		openSeconds,
		finalitySeconds: finality.get(chainId) ?? finalitySeconds,
	}));
}

/** Added to the time that chains take. */
const graceSeconds = 60;

/** The parts of a statement that finds which swaps are stuck, with the parameters that `paceValues` returns. */
export const paceSql = `with pace as (
	select * from unnest($paceChainIds::text[], $openSeconds::int[], $finalitySeconds::int[])
		as p (chain_id, open, finality)
)`;
export const swapsWithPaceSql = `swaps s
	left join pace o on o.chain_id = s.order_terms->>'originChainId'
	left join pace d on d.chain_id = s.order_terms->>'destinationChainId'`;
/**
 * A swap is stuck if nothing was written about it for twice the time that both its chains take to be final, and a
 * minute. One that is not open yet also has until its deadline, since whether it is opened depends on the chain and the
 * wallet.
 */
export const isStuckSql = `case
		when s.status = 'pending' and s.stage = 'opening'
			then greatest(s.updated_at, s.created_at + make_interval(secs => coalesce(o.open, 0)))
		else s.updated_at
	end + make_interval(secs => 2 * (coalesce(o.finality, 0) + coalesce(d.finality, 0)) + $graceSeconds)
		< to_timestamp($nowMs::double precision / 1000)`;

export function paceValues(paces: readonly ChainPace[], nowMs: Milliseconds) {
	return {
		paceChainIds: paces.map(({ chainId }) => String(chainId)),
		openSeconds: paces.map(({ openSeconds }) => openSeconds),
		finalitySeconds: paces.map(({ finalitySeconds }) => finalitySeconds),
		graceSeconds,
		nowMs,
	};
}

/** Returns whether a swap has not ended and made no progress for longer than its chains should take. */
export async function isStuckSwap(
	db: Database,
	{ id, paces, nowMs }: { id: SwapUuid; paces: readonly ChainPace[]; nowMs: Milliseconds },
): Promise<boolean> {
	const { rowCount } = await db.query(
		namedParameters(
			`${paceSql}
			select from ${swapsWithPaceSql} where s.id = $id and s.ended_at is null and ${isStuckSql}`,
			{ ...paceValues(paces, nowMs), id },
		),
	);
	return rowCount === 1;
}
