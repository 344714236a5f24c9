import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { Entry } from "./event-entries.ts";
import { type Posting, post } from "./post.ts";

/** The holdings of escrow and vault at a final slot, by token. */
export type SlotHoldings = {
	slot: number;
	vault: ReadonlyMap<Hex, bigint>;
	escrow: ReadonlyMap<Hex, bigint>;
};

/** The ledger's accounts that the chain can be asked about. */
const comparedAccounts = ["escrow", "stock"] as const;
type ComparedAccount = (typeof comparedAccounts)[number];

/**
 * Books amounts that entered or left escrow or vault by no transaction of ours. To be called when everything of ours up
 * to the slot is booked, and nothing after it: then a difference can be nothing else.
 */
export async function bookUnattributed(
	db: Database,
	{ chainId, holdings }: { chainId: number; holdings: SlotHoldings },
): Promise<Posting[]> {
	const balances = await readLedgerBalances(db, chainId);
	const held = { escrow: holdings.escrow, stock: holdings.vault };
	const postings = comparedAccounts.flatMap((account) =>
		[...held[account]].flatMap(([token, amount]): Posting[] => {
			const difference = amount - (balances.get(`${account}:${token}`) ?? 0n);
			if (difference === 0n) return [];
			return [
				{
					key: `${chainId}:unattributed:${holdings.slot}:${account}:${token}`,
					chainId,
					blockNumber: holdings.slot,
					name: "unattributed",
					orderId: undefined,
					entries: [
						{ account, token, amount: difference },
						{ account: "unattributed", token, amount: -difference },
					],
				},
			];
		}),
	);
	const posted = await post(db, postings);
	await addToLedgerBalances(
		db,
		chainId,
		posted.flatMap((posting) => posting.entries),
	);
	return posted;
}

/** Updates the balances of the compared accounts. Every entry of theirs must pass here once. */
export async function addToLedgerBalances(
	db: Database,
	chainId: number,
	entries: readonly Entry[],
): Promise<void> {
	const compared = entries.filter(({ account }) => comparedAccounts.includes(account as ComparedAccount));
	if (compared.length === 0) return;
	await db.query(
		`insert into ledger_balances (chain_id, account, token, balance)
		select $1, account, token, sum(amount)
		from unnest($2::text[], $3::bytea[], $4::numeric[]) as e (account, token, amount) group by account, token
		on conflict (chain_id, account, token) do update set balance = ledger_balances.balance + excluded.balance`,
		[
			chainId,
			compared.map(({ account }) => account),
			compared.map(({ token }) => hexToBytes(token)),
			compared.map(({ amount }) => amount),
		],
	);
}

async function readLedgerBalances(db: Database, chainId: number): Promise<Map<string, bigint>> {
	const { rows } = await db.query<Row<"ledger_balances", "account" | "token" | "balance">>(
		"select account, token, balance from ledger_balances where chain_id = $1",
		[chainId],
	);
	return new Map(rows.map(({ account, token, balance }) => [`${account}:${bytesToHex(token)}`, balance]));
}
