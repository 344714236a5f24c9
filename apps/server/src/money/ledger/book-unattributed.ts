import { type Amount, isSolana, lesser } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { Entry } from "./event-entries.ts";
import { type Posting, post, readLedgerBalances } from "./post.ts";

/** The accounts of the ledger that are compared with the balances of a chain. */
const comparedAccounts = ["inventory", "relayer"] as const;
type ComparedAccount = (typeof comparedAccounts)[number];
/** Where the ledger books what came to each of them by no transaction of ours. */
const unattributed = { inventory: "unattributed", relayer: "unattributed:relayer" } as const;

/** What the vaults and the relayers of a chain hold at the end of a final block. */
export type Holdings = {
	blockNumber: number;
	held: readonly { account: ComparedAccount; token: Hex; amount: Amount }[];
};

/**
 * Books amounts that entered or left the vaults and relayers by none of our transactions. The books must end at the
 * block of the holdings, so that a difference can be nothing else.
 *
 * An amount that the operator declared is booked to `treasury`, the rest to `unattributed`. An undeclared
 * shortage is booked only in a vault on Solana, where a withdrawal makes no event. It is a loss otherwise, so it stays a
 * difference, which the audit reports.
 */
export async function bookUnattributed(
	db: Database,
	{
		chainId,
		holdings: { blockNumber, held },
		occasion,
	}: {
		chainId: number;
		holdings: Holdings;
		/**
		 * Differs each time, because a delivery that is found late changes a difference that was booked at the same slot.
		 */
		occasion: string;
	},
): Promise<Posting[]> {
	const postings: Posting[] = [];
	for (const account of comparedAccounts) {
		const balances = await readLedgerBalances(db, { chainId, account });
		for (const { token, amount } of held.filter((one) => one.account === account)) {
			const difference = amount - (balances.get(bytesToHex(hexToBytes(token))) ?? 0n);
			const isShort = difference < 0n;
			if (difference === 0n || (isShort && account === "inventory" && !isSolana(chainId))) continue;
			const key = `${chainId}:unattributed:${occasion}:${account}:${token}`;
			const declared = await takeDeclared(db, { chainId, account, token, difference, key });
			const rest = isShort && account === "relayer" ? 0n : difference - declared;
			if (declared === 0n && rest === 0n) continue;
			const entries: Entry[] = [
				{ account, token, amount: declared + rest },
				{ account: "treasury", token, amount: -declared },
				{ account: unattributed[account], token, amount: -rest },
			];
			postings.push({
				key,
				chainId,
				blockNumber,
				name: "unattributed",
				orderId: undefined,
				entries: entries.filter((entry) => entry.amount !== 0n),
			});
		}
	}
	return post(db, postings);
}

/** Returns whether more is held somewhere than the books account for. */
export async function hasSurplus(
	db: Database,
	{ chainId, held }: { chainId: number; held: Holdings["held"] },
): Promise<boolean> {
	for (const account of comparedAccounts) {
		const balances = await readLedgerBalances(db, { chainId, account });
		const isMore = ({ token, amount }: { token: Hex; amount: Amount }) =>
			amount > (balances.get(bytesToHex(hexToBytes(token))) ?? 0n);
		if (held.filter((one) => one.account === account).some(isMore)) return true;
	}
	return false;
}

type DeclaredRow = Row<"treasury_moves", "id" | "amount">;

/**
 * Marks the declared flows that a difference contains as booked, oldest first, and returns their sum, which is negative
 * if they left. A stranger can add to what an operator sends, so a flow is in a difference if that is large enough.
 */
async function takeDeclared(
	db: Database,
	{
		chainId,
		account,
		token,
		difference,
		key,
	}: { chainId: number; account: ComparedAccount; token: Hex; difference: Amount; key: string },
): Promise<Amount> {
	const kind = difference > 0n ? "deposit" : "withdrawal";
	const { rows } = await db.query<DeclaredRow>(
		`select id, amount from treasury_moves m
		where chain_id = $1 and token = $2 and kind = $3 and state = 'queued'
			and $4 = exists (select from relayers r where r.chain_id = m.chain_id and r.address = m.holder)
		order by created_at, id for update`,
		[chainId, hexToBytes(token), kind, account === "relayer"],
	);
	let left = difference > 0n ? difference : -difference;
	const taken = rows.filter(({ amount }) => {
		if (amount > left) return false;
		left -= amount;
		return true;
	});
	if (taken.length === 0) return 0n;
	await db.query(
		`update treasury_moves set state = 'final', posting_key = $2, received = amount, updated_at = now()
		where id = any($1::uuid[])`,
		[taken.map(({ id }) => id), key],
	);
	const sum = taken.reduce((total, { amount }) => total + amount, 0n);
	return difference > 0n ? sum : -sum;
}

/**
 * Corrects the books after postings of earlier blocks were added. Until then, what these brought into a vault or to a
 * relayer was counted as unattributed, so it is taken off there.
 */
export async function takeOffUnattributed(
	db: Database,
	{ chainId, late }: { chainId: number; late: readonly Posting[] },
): Promise<void> {
	const [first] = late;
	if (!first) return;
	const since = late.reduce((least, { blockNumber }) => Math.min(least, blockNumber), first.blockNumber);
	const entries = late.flatMap((posting) => posting.entries);
	for (const account of comparedAccounts) {
		const ofAccount = entries.filter((entry) => entry.account === account);
		for (const [token, some] of Map.groupBy(ofAccount, (entry) => entry.token.toLowerCase() as Hex)) {
			const { rows } = await db.query<{ found: string }>(
				`select coalesce(-sum(amount), 0)::text as found from entries e join postings p on p.id = e.posting_id
				where e.account = $4 and e.chain_id = $1 and e.token = $2 and p.block_number >= $3
					and p.name = 'unattributed'`,
				[chainId, hexToBytes(token), since, unattributed[account]],
			);
			const added = some.reduce((sum, { amount }) => sum + amount, 0n);
			const amount = lesser(added, BigInt(rows[0]?.found ?? 0));
			if (amount <= 0n) continue;
			await post(db, [
				{
					key: `${first.key}:attributed:${account}:${token}`,
					chainId,
					blockNumber: since,
					name: "unattributed",
					orderId: undefined,
					entries: [
						{ account, token, amount: -amount },
						{ account: unattributed[account], token, amount },
					],
				},
			]);
		}
	}
}
