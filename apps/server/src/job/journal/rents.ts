import type { Wei } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";

/** An account of the program on Solana whose rent comes back when it is closed. */
export type Rent = {
	/** 32 bytes. */
	address: Hex;
	orderId: Hex;
	/** An order's rent was paid by a fee payer and goes back to it; a record's by the vault. */
	account: "order" | "record";
};

/** SQL for whether the rent of an account can be fetched. The chain's clock may be behind the database's. */
export const isClosable = "closable_at < now() - interval '1 minute'";

/** Returns rents that can be fetched, oldest first. Their swaps have ended, and no pending transaction fetches them. */
export async function readDueRents(
	db: Database,
	{ chainId, limit }: { chainId: number; limit: number },
): Promise<Rent[]> {
	const { rows } = await db.query<Rent>(
		`select '0x' || encode(address, 'hex') as address, '0x' || encode(order_id, 'hex') as "orderId", account
		from rents r
		where chain_id = $1 and returned_at is null and ${isClosable}
			and exists (select from swaps s where s.order_id = r.order_id and s.ended_at is not null)
			and not exists (select from jobs j where j.order_id = r.order_id and j.state in ('queued', 'sent', 'unattested'))
			and not exists (
				select from lane_transactions t where t.chain_id = r.chain_id and t.kind = 'close' and t.state <> 'final'
					and t.jobs @> jsonb_build_array(jsonb_build_object('account', '0x' || encode(r.address, 'hex')))
			)
		order by closable_at limit $2`,
		[chainId, limit],
	);
	return rows;
}

/** Lets a day pass before these rents are due again. */
export async function postponeRents(
	db: Database,
	{ chainId, addresses }: { chainId: number; addresses: readonly Hex[] },
): Promise<void> {
	await db.query(
		"update rents set closable_at = now() + interval '1 day' where chain_id = $1 and address = any($2::bytea[])",
		[chainId, addresses.map((address) => hexToBytes(address))],
	);
}

/** A rent as it was paid. */
export type RentPaid = Pick<Rent, "orderId" | "account"> & { lamports: Wei };

/** Reads the rents of these accounts, by address. */
export async function readRents(
	db: Database,
	{ chainId, addresses }: { chainId: number; addresses: readonly Hex[] },
): Promise<Map<Hex, RentPaid>> {
	if (addresses.length === 0) return new Map();
	const { rows } = await db.query<Row<"rents", "address" | "order_id" | "account" | "lamports">>(
		"select address, order_id, account, lamports from rents where chain_id = $1 and address = any($2)",
		[chainId, addresses.map((address) => hexToBytes(address))],
	);
	return new Map(
		rows.map(({ address, order_id, ...rent }) => [
			bytesToHex(address),
			{ ...rent, orderId: bytesToHex(order_id) },
		]),
	);
}

/** Stores the rents that were paid, and that came back, in slots that became final. Known ones stay as they are. */
export async function saveRents(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<void> {
	await db.query(
		`insert into rents (chain_id, address, order_id, account, lamports, closable_at)
		select chain_id, ${addressOf}, order_id, data->>'account', (data->>'lamports')::numeric,
			to_timestamp((data->>'closableAt')::bigint)
		from chain_events
		where chain_id = $1 and block_number > $2 and block_number <= $3 and name = 'RentPaid'
		on conflict do nothing`,
		[chainId, after, upTo],
	);
	await db.query(
		`update rents set returned_at = now() where chain_id = $1 and returned_at is null and address in (
			select ${addressOf} from chain_events
			where chain_id = $1 and block_number > $2 and block_number <= $3 and name = 'RentReturned'
		)`,
		[chainId, after, upTo],
	);
}

const addressOf = "decode(substr(data->>'address', 3), 'hex')";

/** A rent that should have come back. */
export type OverdueRent = Rent & {
	/** Whether it has been overdue for so long that every node has the transaction. */
	isOld: boolean;
};

/**
 * Returns rents that are overdue although none of our transactions is known to have fetched them. Anyone may close the
 * accounts. An order's account cannot be closed before the order is paid.
 */
export async function readOverdueRents(
	db: Database,
	{ chainId, limit }: { chainId: number; limit: number },
): Promise<OverdueRent[]> {
	const { rows } = await db.query<OverdueRent>(
		`select '0x' || encode(address, 'hex') as address, '0x' || encode(order_id, 'hex') as "orderId", account,
			closable_at < now() - interval '1 hour' as "isOld"
		from rents r
		where chain_id = $1 and returned_at is null and closable_at < now() - interval '10 minutes'
			and not exists (
				select from chain_events e where e.order_id = r.order_id and e.chain_id = r.chain_id
					and e.name = 'RentReturned' and e.data->>'address' = '0x' || encode(r.address, 'hex')
			)
			and (account = 'record' or exists (
				select from chain_events e where e.order_id = r.order_id and e.chain_id = r.chain_id
					and e.name in ('Released', 'Refunded')
			))
		order by closable_at limit $2`,
		[chainId, limit],
	);
	return rows;
}

/** Marks rents as returned, because their accounts are closed. */
export async function markRentsReturned(
	db: Database,
	{ chainId, addresses }: { chainId: number; addresses: readonly Hex[] },
): Promise<void> {
	await db.query(
		"update rents set returned_at = now() where chain_id = $1 and address = any($2::bytea[]) and returned_at is null",
		[chainId, addresses.map((address) => hexToBytes(address))],
	);
}
