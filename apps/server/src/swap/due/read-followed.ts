import type { Seconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";

/** A chain that a worker has followed, as the database knows it. */
export type FollowedChain = {
	chainId: number;
	/** Time since a worker last took in something new of the chain, by the database's clock. */
	ageSeconds: Seconds;
	/** True if events of orders of undecided swaps may be missing. */
	isUnread: boolean;
	/** The tokens of which a worker has read the vault's inventory, in lower case. */
	tokens: Hex[];
};

export async function readFollowed(db: Database): Promise<FollowedChain[]> {
	const { rows } = await db.query<FollowedChain>(
		`select chain_id as "chainId", extract(epoch from clock_timestamp() - updated_at)::float8 as "ageSeconds",
			exists (select from unread_blocks u where u.chain_id = chain_heads.chain_id and not u.is_partial) or unseen_orders <> '{}' as "isUnread",
			array(select '0x' || encode(token, 'hex') from inventory where inventory.chain_id = chain_heads.chain_id) as tokens
		from chain_heads`,
	);
	return rows;
}
