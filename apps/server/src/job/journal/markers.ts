import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** An account on Solana that keeps an order from being decided twice. */
export type Marker = {
	/** 32 bytes. */
	address: Hex;
	orderId: Hex;
	/** The signer for its address, which tells which side of the order it decides. */
	base: "vault" | "escrow";
	/** The key that may close it, which tells how that side was decided. */
	owner: "vault" | "escrow";
};

/**
 * Returns markers that no longer guard anything: made before that time, of swaps that have ended, and not in a
 * transaction that closes them. Oldest first, and locked until the transaction ends.
 */
export async function readDueMarkers(
	db: Database,
	{ chainId, madeBefore, limit }: { chainId: number; madeBefore: Date; limit: number },
): Promise<Marker[]> {
	const { rows } = await db.query<Marker>(
		`select '0x' || encode(address, 'hex') as address, '0x' || encode(order_id, 'hex') as "orderId", base, owner
		from markers m
		where chain_id = $1 and closed_at is null and made_at < $2
			and exists (select from swaps s where s.order_id = m.order_id and s.ended_at is not null)
			and not exists (select from jobs j where j.order_id = m.order_id and j.state in ('queued', 'sent', 'unattested'))
			and not exists (
				select from lane_transactions t where t.chain_id = m.chain_id and t.kind = 'close' and t.state <> 'final'
					and t.jobs @> jsonb_build_array(jsonb_build_object('marker', '0x' || encode(m.address, 'hex')))
			)
		order by made_at limit $3 for update skip locked`,
		[chainId, madeBefore, limit],
	);
	return rows;
}

/** Marks markers as closed: a final transaction has returned what they held to the fee payer. */
export async function markMarkersClosed(
	db: Database,
	{ chainId, addresses, closedAt }: { chainId: number; addresses: readonly Hex[]; closedAt: Date },
): Promise<void> {
	await db.query(
		`update markers set closed_at = $3 where chain_id = $1 and address = any($2::bytea[]) and closed_at is null`,
		[chainId, addresses.map((address) => hexToBytes(address)), closedAt],
	);
}
