import { bytesToHex, type Hex } from "viem";
import { doneEvent } from "./apply-block.ts";
import { lockHead } from "./chain-head.ts";
import type { Database } from "./database.ts";
import { markDue } from "./due-signals.ts";

/**
 * Makes this block the head again: the chain dropped all after it. A job whose event is gone is done no more: its
 * transaction is broadcast again by its lane, or where it has none, it waits for one. Returns the orders that lost an
 * event.
 */
export async function undoBlocks(
	db: Database,
	{ chainId, number }: { chainId: number; number: number },
): Promise<Hex[]> {
	const head = await lockHead(db, chainId);
	if (!head || number < head.finalizedNumber) throw new Error(`block ${number} is below what is final`);
	await db.query("delete from chain_blocks where chain_id = $1 and number > $2", [chainId, number]);
	await db.query(
		`update chain_heads h set number = b.number, hash = b.hash, timestamp = b.timestamp, updated_at = now()
		from chain_blocks b where h.chain_id = $1 and b.chain_id = $1 and b.number = $2`,
		[chainId, number],
	);
	await db.query(
		`update lane_transactions set state = 'broadcast', block_number = null, gas_cost = null
		where chain_id = $1 and state = 'mined' and block_number > $2`,
		[chainId, number],
	);
	const { rows } = await db.query<{ order_id: Buffer | null; name: string }>(
		"delete from chain_events where chain_id = $1 and block_number > $2 returning order_id, name",
		[chainId, number],
	);
	const lost = rows.flatMap(({ order_id, name }) => (order_id ? [{ orderId: order_id, name }] : []));
	const undone = Object.entries(doneEvent).flatMap(([kind, name]) =>
		lost.filter((event) => event.name === name).map(({ orderId }) => ({ kind, orderId })),
	);
	await db.query(
		`update jobs j set updated_at = now(), state = case
			when exists (select from lane_transactions t
				where t.chain_id = j.chain_id and t.relayer = j.relayer and t.nonce = j.nonce and t.state <> 'final')
			then 'sent'
			when kind = 'release' or (kind = 'refund' and (payload->>'attested')::boolean) then 'unattested'
			else 'queued' end
		where chain_id = $1 and state = 'done' and (order_id, kind) in (select * from unnest($2::bytea[], $3::text[]))`,
		[chainId, undone.map((job) => job.orderId), undone.map((job) => job.kind)],
	);
	const orderIds = [...new Set(lost.map(({ orderId }) => bytesToHex(orderId)))];
	await markDue(db, { chainId, orderIds });
	return orderIds;
}
