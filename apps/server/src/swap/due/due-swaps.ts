import type { SwapUuid } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { isHeadOld } from "./chain-head.ts";

/** The time for which an open counts as new, because its lane may not have been poked for it. */
const newOpen = "10 seconds";

/**
 * Returns the swaps that are due, the longest due first, and the chains with an op that was just submitted. A swap is
 * due once its time has come, or once a chain has reached the height for which it waits. This query compares the
 * heights, so no process has to mark the swap.
 */
export async function readDueSwaps(
	db: Database,
	{ limit, except }: { limit: number /** Swaps that another process holds. */; except: readonly SwapUuid[] },
): Promise<{ swapIds: SwapUuid[]; openChainIds: number[] }> {
	const { rows } = await db.query<{ swap_ids: SwapUuid[]; open_chain_ids: string[] }>({
		name: "read-due-swaps",
		text: `select array(
				select swap_id from (
					(select swap_id, due_at as since from waits where due_at <= now() and swap_id <> all($2::uuid[])
					order by due_at limit $1)
					union all
					${reachedSwaps({ limit: "$1", where: "swap_id <> all($2)" })}
				) due group by swap_id order by min(since), swap_id limit $1
			) as swap_ids,
			array(select h.chain_id from chain_heads h where exists (
				select from jobs j where j.chain_id = h.chain_id and j.state = 'queued' and j.kind = 'open'
					and j.priority = 4 and j.failures = 0 and j.created_at > now() - interval '${newOpen}'
			)) as open_chain_ids`,
		values: [limit, except],
	});
	const [row] = rows;
	return { swapIds: row?.swap_ids ?? [], openChainIds: row?.open_chain_ids.map(Number) ?? [] };
}

/**
 * Returns SQL for some of the swaps whose chain has reached the height that they wait for, and since when it may have.
 * The order makes PostgreSQL use the index, regardless of how many swaps wait.
 */
export function reachedSwaps({ limit, where }: { limit: string; where: string }): string {
	const at = (wait: "head" | "finalized", height: string) =>
		`select w.swap_id, h.updated_at from chain_heads h cross join lateral (
			select swap_id from waits where ${wait}_chain_id = h.chain_id and ${wait}_number <= h.${height} and ${where}
			order by ${wait}_number limit ${limit}
		) w`;
	return `${at("head", "number")} union all ${at("finalized", "finalized_number")}`;
}

/** SQL for whether a round has something to do. */
export const isAnyDue = `(exists (select from waits where due_at <= now())
	or exists (${reachedSwaps({ limit: "1", where: "true" })}))`;

/** Returns whether a swap waits for the chain to reach these blocks, or its head was not written for a while. */
export async function isHeadWanted(
	db: Database,
	{ chainId, number, finalizedNumber }: { chainId: number; number: number; finalizedNumber: number },
): Promise<boolean> {
	const { rows } = await db.query<{ wanted: boolean }>(
		`select exists (select from waits where head_chain_id = $1 and head_number <= $2)
			or exists (select from waits where finalized_chain_id = $1 and finalized_number <= $3)
			or ${isHeadOld} as wanted`,
		[chainId, number, finalizedNumber],
	);
	return rows[0]?.wanted ?? true;
}
