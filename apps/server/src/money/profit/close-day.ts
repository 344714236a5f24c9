import { type Amount, isSolana, nativeTokenOf } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import type { Holdings } from "../ledger/book-unattributed.ts";
import { openingKey, ownAccounts } from "../ledger/post.ts";
import { type Change, explainChange } from "./explain-change.ts";
import { readPriceMarks } from "./price-marks.ts";

const daySeconds = 86_400;

/** Returns the day of a time, as in 2026-11-30, UTC. */
export function dayOf(unixSeconds: number): string {
	return new Date(unixSeconds * 1_000).toISOString().slice(0, 10);
}

/**
 * Returns whether a block ends a day of the chain, because it is the first one of its day that is compared. The day on
 * which the books began ends with the first one of the next day.
 */
export async function isDayDue(
	db: Database,
	{ chainId, timestamp }: { chainId: number; timestamp: number },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`select from postings where key = $1 and to_char(at at time zone 'utc', 'YYYY-MM-DD') < $2
			and not exists (select from book_days where chain_id = $3 and day >= $4)`,
		[openingKey(chainId), dayOf(timestamp), chainId, dayOf(timestamp - daySeconds)],
	);
	return rowCount === 1;
}

/**
 * Closes the day before a block, with what the chain reports at the end of that block. Must be called in the transaction
 * that compares these balances with the ledger, so that the books end at the block. The first day of a chain begins with
 * its opening balances, and a day that follows a longer outage has the postings of that too.
 */
export async function closeDay(
	db: Database,
	{
		chainId,
		timestamp,
		holdings: { blockNumber, held },
		agreeing,
		decimalsOf,
	}: {
		chainId: number;
		/** The block's time. */
		timestamp: number;
		holdings: Holdings;
		/** What other providers report at the same block. */
		agreeing: readonly Holdings["held"][];
		/** Returns the decimals of a token, or undefined if the service does not offer it. */
		decimalsOf: (token: Hex) => number | undefined;
	},
): Promise<void> {
	const before = await readLastDay(db, chainId);
	const after = before?.lastPosting ?? (await readOpening(db, chainId));
	const { rows: ends } = await db.query<{ last: number }>(
		"select coalesce(max(id), 0) as last from postings",
	);
	const upTo = ends[0]?.last ?? 0;
	const flows = await readFlows(db, { chainId, after, upTo });
	const openings = before?.closings ?? (await readOwnOf(db, after));
	const onTheWay = await readOnTheWay(db, chainId);
	const marks = await readPriceMarks(db, { chainId, after: before?.lastBlock ?? 0, upTo: blockNumber });
	const tokens = new Set([...held.map(({ token }) => keyOf(token)), ...openings.keys(), ...flows.keys()]);
	for (const token of tokens) {
		const isNative = token === keyOf(nativeTokenOf(chainId));
		const decimals = isNative ? nativeDecimals(chainId) : decimalsOf(token);
		// Anyone can have a token of their own released to a vault.
		if (decimals === undefined) continue;
		const opening = openings.get(token) ?? 0n;
		const closing = amountIn(held, token) + (onTheWay.get(token) ?? 0n);
		const changes = flows.get(token)?.changes ?? [];
		const blocks = { after: before?.lastBlock ?? 0, upTo: blockNumber };
		const explained = explainChange({ opening, decimals, ...blocks, changes, marks: marks.get(token) ?? [] });
		await db.query(
			namedParameters(
				`insert into book_days (day, chain_id, token, after_posting, last_posting, last_block, opening, closing,
					by_account, usd_opening, usd_closing, flows36, positions36, agreed)
				values ($day, $chainId, $token, $after, $upTo, $lastBlock, $opening, $closing, $byAccount, $usdOpening,
					$usdClosing, $flows36, $positions36, $agreed)`,
				{
					day: dayOf(timestamp - daySeconds),
					chainId,
					token: hexToBytes(token),
					after,
					upTo,
					lastBlock: blockNumber,
					opening,
					closing,
					byAccount: JSON.stringify(flows.get(token)?.byAccount ?? {}),
					usdOpening: explained?.usdOpening ?? null,
					usdClosing: explained?.usdClosing ?? null,
					flows36: explained?.flows36 ?? null,
					positions36: explained?.positions36 ?? null,
					agreed:
						agreeing.length === 0
							? null
							: agreeing.every((other) => amountIn(other, token) === amountIn(held, token)),
				},
			),
		);
	}
}

/** Returns the decimals of a chain's native token, in which gas is paid even if the service does not offer it. */
export function nativeDecimals(chainId: number): number {
	return isSolana(chainId) ? 9 : 18;
}

function keyOf(token: Hex): Hex {
	return token.toLowerCase() as Hex;
}

function amountIn(held: Holdings["held"], token: Hex): Amount {
	return held.filter((one) => keyOf(one.token) === token).reduce((sum, { amount }) => sum + amount, 0n);
}

/** What the next day of a chain begins with. */
type LastDay = { lastPosting: number; lastBlock: number; closings: Map<Hex, Amount> };

export async function readLastDay(db: Database, chainId: number): Promise<LastDay | undefined> {
	const { rows } = await db.query<Row<"book_days", "token" | "closing" | "last_posting" | "last_block">>(
		`select token, closing, last_posting, last_block from book_days
		where chain_id = $1 and last_posting = (select max(last_posting) from book_days where chain_id = $1)`,
		[chainId],
	);
	const [first] = rows;
	if (!first) return undefined;
	return {
		lastPosting: first.last_posting,
		lastBlock: first.last_block,
		closings: new Map(rows.map(({ token, closing }) => [bytesToHex(token), closing])),
	};
}

/** Returns the posting of the opening balances; 0 if there is none. */
export async function readOpening(db: Database, chainId: number): Promise<number> {
	const { rows } = await db.query<Row<"postings", "id">>("select id from postings where key = $1", [
		openingKey(chainId),
	]);
	return rows[0]?.id ?? 0;
}

type Flows = {
	/** Changes of the desk's own money, by block. */
	changes: Change[];
	/** The same changes, by the account on the other side, as decimal text. */
	byAccount: Record<string, string>;
};

export async function readFlows(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<Map<Hex, Flows>> {
	const { rows: changes } = await db.query<
		Row<"entries", "token"> & { block_number: number; amount: string }
	>(
		`select e.token, p.block_number, sum(e.amount)::text as amount
		from postings p join entries e on e.posting_id = p.id
		where p.id > $2 and p.id <= $3 and e.chain_id = $1 and e.account = any($4)
		group by e.token, p.block_number order by p.block_number`,
		[chainId, after, upTo, ownAccounts],
	);
	const { rows: others } = await db.query<Row<"entries", "token" | "account"> & { amount: string }>(
		`select e.token, e.account, (-sum(e.amount))::text as amount
		from postings p join entries e on e.posting_id = p.id
		where p.id > $2 and p.id <= $3 and e.chain_id = $1 and e.account <> all($4)
		group by e.token, e.account having sum(e.amount) <> 0 order by e.account`,
		[chainId, after, upTo, ownAccounts],
	);
	const flows = new Map<Hex, Flows>();
	const of = (token: Hex) => {
		const known = flows.get(token) ?? { changes: [], byAccount: {} };
		flows.set(token, known);
		return known;
	};
	for (const { token, block_number, amount } of changes) {
		of(bytesToHex(token)).changes.push({ blockNumber: block_number, amount: BigInt(amount) });
	}
	for (const { token, account, amount } of others) of(bytesToHex(token)).byAccount[account] = amount;
	return flows;
}

/** Returns what a posting has of the desk's own money, by token. */
export async function readOwnOf(db: Database, posting: number): Promise<Map<Hex, Amount>> {
	const { rows } = await db.query<Row<"entries", "token"> & { amount: string }>(
		`select token, sum(amount)::text as amount from entries where posting_id = $1 and account = any($2) group by token`,
		[posting, ownAccounts],
	);
	return new Map(rows.map(({ token, amount }) => [bytesToHex(token), BigInt(amount)]));
}

/** Returns what the ledger has of the desk's own money that is in no vault and with no relayer, by token. */
async function readOnTheWay(db: Database, chainId: number): Promise<Map<Hex, Amount>> {
	const { rows } = await db.query<Row<"ledger_balances", "token"> & { amount: string }>(
		`select token, sum(balance)::text as amount from ledger_balances
		where chain_id = $1 and account not in ('inventory', 'relayer') group by token`,
		[chainId],
	);
	return new Map(rows.map(({ token, amount }) => [bytesToHex(token), BigInt(amount)]));
}
