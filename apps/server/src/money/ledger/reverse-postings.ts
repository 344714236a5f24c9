import type { Database } from "../../database/database.ts";

/**
 * Reverses the postings of a chain's blocks above this one, each by another with the opposite entries. Nothing that was
 * written is deleted. Returns how many there were.
 */
export async function reversePostings(
	db: Database,
	{ chainId, above }: { chainId: number; above: number },
): Promise<number> {
	const { rowCount } = await db.query(
		`with reversed as (
			insert into postings (key, chain_id, block_number, name, order_id)
			select 'reversed:' || p.id, p.chain_id, $2, 'reversal', p.order_id from postings p
			where p.chain_id = $1 and p.block_number > $2 and p.name <> 'reversal'
			on conflict (key) do nothing
			returning id, split_part(key, ':', 2)::bigint as of_id
		), opposite as (
			insert into entries (posting_id, account, chain_id, token, amount)
			select r.id, e.account, e.chain_id, e.token, -e.amount
			from reversed r join entries e on e.posting_id = r.of_id
		)
		select from reversed`,
		[chainId, above],
	);
	// The same can happen again, because the chain may return to these very blocks, or mine the same transaction on
	// another fork.
	await db.query(
		"update postings set key = key || ':' || id where chain_id = $1 and block_number > $2 and name <> 'reversal'",
		[chainId, above],
	);
	return rowCount ?? 0;
}
