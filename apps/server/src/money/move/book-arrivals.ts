import { bytesToHex, type Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { takeOffUnattributed } from "../ledger/book-unattributed.ts";
import type { Entry } from "../ledger/event-entries.ts";
import { type Posting, post } from "../ledger/post.ts";

/** SQL: true for a bridge to the chain `$1` whose arrival is in a block up to `$2` and in no posting. */
const isUnbooked = "kind = 'bridge' and to_chain_id = $1 and arrived_block <= $2 and posting_key is null";

type Booked = { chainId: number; upTo: number };

/**
 * Books what moves brought to a chain in blocks up to this one, once both of their blocks are final. A mint makes no
 * event of a vault, so the move's row is what is booked. Must be called before a surplus of the chain is booked, in the
 * same transaction.
 */
export async function bookArrivals(db: Database, { chainId, upTo }: Booked): Promise<Posting[]> {
	const { rows } = await db.query<Row<"treasury_moves", "id" | "to_token" | "received" | "arrived_block">>(
		`select id, to_token, received, arrived_block from treasury_moves where ${isUnbooked} and state = 'final'
		order by arrived_block, id`,
		[chainId, upTo],
	);
	const postings = rows.map(({ id, to_token, received, arrived_block }): Posting => {
		if (!to_token || received === null || arrived_block === null) {
			throw new TypeError(`the move ${id} is final without an arrival`);
		}
		const token = bytesToHex(to_token);
		const entries: Entry[] = [
			{ account: "inventory", token, amount: received },
			{ account: "bridge", token, amount: -received },
		];
		const key = `${chainId}:arrival:${id}`;
		return { key, chainId, blockNumber: arrived_block, name: "arrival", orderId: undefined, entries };
	});
	if (postings.length === 0) return [];
	const booked = await post(db, postings);
	// Balances may have been compared before the move's row had its arrival.
	await takeOffUnattributed(db, { chainId, late: booked });
	await db.query(
		`update treasury_moves m set posting_key = p.key, updated_at = now()
		from unnest($1::uuid[], $2::text[]) as p (id, key) where m.id = p.id`,
		[rows.map(({ id }) => id), postings.map(({ key }) => key)],
	);
	return booked;
}

/** Returns whether `bookArrivals` would book anything. */
export async function hasArrivals(db: Database, { chainId, upTo }: Booked): Promise<boolean> {
	const { rowCount } = await db.query(
		`select from treasury_moves where ${isUnbooked} and state = 'final' limit 1`,
		[chainId, upTo],
	);
	return rowCount === 1;
}

/** Returns the tokens of a chain of which an amount arrived up to a block and waits until both its blocks are final. */
export async function readArrivedTokens(db: Database, { chainId, upTo }: Booked): Promise<Set<Hex>> {
	const { rows } = await db.query<Row<"treasury_moves", "to_token">>(
		`select distinct to_token from treasury_moves where ${isUnbooked} and state = 'arrived'`,
		[chainId, upTo],
	);
	return new Set(rows.flatMap(({ to_token }) => (to_token ? [bytesToHex(to_token)] : [])));
}

/** Has arrivals booked again whose postings were reversed, because the chain dropped the blocks above this one. */
export async function forgetArrivals(
	db: Database,
	{ chainId, above }: { chainId: number; above: number },
): Promise<void> {
	await db.query(
		`update treasury_moves set posting_key = null, updated_at = now()
		where kind = 'bridge' and to_chain_id = $1 and arrived_block > $2 and state = 'final'`,
		[chainId, above],
	);
}
