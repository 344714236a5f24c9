import type { Database } from "../../database/database.ts";

/**
 * Marks declared withdrawals as final whose event is booked: the one with the same vault, token, amount and recipient,
 * each event for one declaration, oldest first. A withdrawal may be declared after it was made.
 */
export async function matchWithdrawals(db: Database, chainId: number): Promise<void> {
	if (!(await isWithdrawalDeclared(db, chainId))) return;
	await db.query(
		`with made as (
			select p.key, e.transaction_hash, e.contract, decode(substr(e.data->>'token', 3), 'hex') as token,
				decode(substr(e.data->>'to', 3), 'hex') as recipient, (e.data->>'amount')::numeric as amount, p.id
			from chain_events e
			join postings p on p.key = e.chain_id || ':0x' || encode(e.block_hash, 'hex') || ':' || e.log_index
			where e.chain_id = $1 and e.name = 'Withdrawn'
				and not exists (select from treasury_moves m where m.posting_key = p.key)
		), numbered as (
			select *, row_number() over (partition by contract, token, recipient, amount order by id) as nth from made
		), declared as (
			select id, holder, token, address, amount,
				row_number() over (partition by holder, token, address, amount order by created_at, id) as nth
			from treasury_moves where chain_id = $1 and kind = 'withdrawal' and state = 'queued'
		)
		update treasury_moves m set state = 'final', posting_key = n.key, transaction_hash = n.transaction_hash,
			received = n.amount, updated_at = now()
		from numbered n join declared d
			on (d.holder, d.token, d.address, d.amount, d.nth) = (n.contract, n.token, n.recipient, n.amount, n.nth)
		where m.id = d.id`,
		[chainId],
	);
}

/** Returns whether a declared withdrawal of the chain has not been made. */
export async function isWithdrawalDeclared(db: Database, chainId: number): Promise<boolean> {
	const { rowCount } = await db.query(
		"select from treasury_moves where chain_id = $1 and kind = 'withdrawal' and state = 'queued' limit 1",
		[chainId],
	);
	return rowCount === 1;
}
