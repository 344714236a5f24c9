import type { Amount } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import type { Entry } from "./event-entries.ts";

export type Posting = {
	/** Identifies an occurrence that is posted only once. */
	key: string;
	chainId: number;
	blockNumber: number;
	name: string;
	orderId: Hex | undefined;
	entries: readonly Entry[];
};

/** The accounts that are the desk's own money. All others are whose money came in, or where it went. */
export const ownAccounts = ["inventory", "relayer", "bridge", "locked", "credit:vault"] as const;
type OwnAccount = (typeof ownAccounts)[number];

/** Returns SQL that adds the entries of a query to the balances that `readLedgerBalances` returns. */
function addToBalances(entries: string): string {
	return `insert into ledger_balances (chain_id, account, token, balance)
		select chain_id, account, token, sum(amount) from (${entries}) as added
		where account in ('inventory', 'relayer', 'bridge', 'locked', 'credit:vault')
		group by chain_id, account, token order by chain_id, account, token
		on conflict (chain_id, account, token) do update set balance = ledger_balances.balance + excluded.balance`;
}

/** Returns the sum of all entries of an account on a chain, by token. */
export async function readLedgerBalances(
	db: Database,
	{ chainId, account }: { chainId: number; account: OwnAccount },
): Promise<Map<Hex, Amount>> {
	const { rows } = await db.query<Row<"ledger_balances", "token" | "balance">>(
		"select token, balance from ledger_balances where chain_id = $1 and account = $2",
		[chainId, account],
	);
	return new Map(rows.map(({ token, balance }) => [bytesToHex(token), balance]));
}

/** Writes the postings that are not written yet, and returns those. */
export async function post(db: Database, postings: readonly Posting[]): Promise<Posting[]> {
	if (postings.length === 0) return [];
	const entries = postings.flatMap(({ key, chainId, entries }) =>
		entries.map((entry) => ({ ...entry, key, chainId })),
	);
	const { rows } = await db.query<{ key: string }>({
		name: "post",
		...namedParameters(
			`with posted as (
				insert into postings (key, chain_id, block_number, name, order_id)
				select key, chain_id, block_number, name, order_id
				from unnest($postingKeys::text[], $postingChainIds::bigint[], $blockNumbers::bigint[], $names::text[],
					$orderIds::bytea[])
					as p (key, chain_id, block_number, name, order_id)
				on conflict (key) do nothing returning id, key
			), entered as (
				insert into entries (posting_id, account, chain_id, token, amount)
				select posted.id, e.account, e.chain_id, e.token, e.amount
				from unnest($entryKeys::text[], $accounts::text[], $entryChainIds::bigint[], $tokens::bytea[],
					$amounts::numeric[])
					as e (key, account, chain_id, token, amount) join posted using (key)
			), balanced as (${addToBalances(`select e.account, e.chain_id, e.token, e.amount
				from unnest($entryKeys::text[], $accounts::text[], $entryChainIds::bigint[], $tokens::bytea[],
					$amounts::numeric[])
					as e (key, account, chain_id, token, amount) join posted using (key)`)})
			select key from posted`,
			{
				postingKeys: postings.map((posting) => posting.key),
				postingChainIds: postings.map((posting) => posting.chainId),
				blockNumbers: postings.map((posting) => posting.blockNumber),
				names: postings.map((posting) => posting.name),
				orderIds: postings.map((posting) => (posting.orderId ? hexToBytes(posting.orderId) : null)),
				entryKeys: entries.map((entry) => entry.key),
				accounts: entries.map((entry) => entry.account),
				entryChainIds: entries.map((entry) => entry.chainId),
				tokens: entries.map((entry) => hexToBytes(entry.token)),
				amounts: entries.map((entry) => entry.amount),
			},
		),
	});
	const written = new Set(rows.map((row) => row.key));
	return postings.filter(({ key }) => written.has(key));
}

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
		), balanced as (${addToBalances(
			"select e.account, e.chain_id, e.token, -e.amount as amount from reversed r join entries e on e.posting_id = r.of_id",
		)})
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

/** Posts the balances with which the books of a chain begin. */
export function postOpening(
	db: Database,
	{
		chainId,
		blockNumber,
		balances,
	}: {
		chainId: number;
		blockNumber: number;
		balances: readonly { account: "inventory" | "relayer" | "escrow"; token: Hex; amount: Amount }[];
	},
): Promise<Posting[]> {
	return post(db, [
		{
			key: openingKey(chainId),
			chainId,
			blockNumber,
			name: "opening",
			orderId: undefined,
			entries: balances
				.filter(({ amount }) => amount > 0n)
				.flatMap((balance) => [
					balance,
					{ ...balance, account: "opening" as const, amount: -balance.amount },
				]),
		},
	]);
}

/** Returns the last block that is included in the opening balances. */
export async function readOpeningNumber(db: Database, chainId: number): Promise<number> {
	const { rows } = await db.query<{ block_number: number }>(
		"select block_number from postings where key = $1",
		[openingKey(chainId)],
	);
	return rows[0]?.block_number ?? 0;
}

/** Returns the key of the posting with which the books of a chain begin. */
export function openingKey(chainId: number): string {
	return `${chainId}:opening`;
}
