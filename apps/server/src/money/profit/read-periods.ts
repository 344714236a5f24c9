import { type Amount, nativeTokenOf, type UsdE18 } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { ownAccounts } from "../ledger/post.ts";
import { nativeDecimals, readFlows, readLastDay, readOpening, readOwnOf } from "./close-day.ts";
import { explainChange } from "./explain-change.ts";
import { readPriceMarks } from "./price-marks.ts";
import type { Period, PeriodToken } from "./tally.ts";

/** Returns the decimals of a token, or undefined if it is not in the books, because the service does not offer it. */
export type DecimalsOf = (chainId: number, token: Hex) => number | undefined;

/** Returns the decimals of the tokens that are in the books: those of the assets, and of each chain's native token. */
export function decimalsOfBooks(
	assets: readonly { chainId: number; token: Hex; decimals: number }[],
): DecimalsOf {
	const known = new Map(
		assets.map(({ chainId, token, decimals }) => [`${chainId} ${token.toLowerCase()}`, decimals]),
	);
	return (chainId, token) =>
		known.get(`${chainId} ${token.toLowerCase()}`) ??
		(token.toLowerCase() === nativeTokenOf(chainId).toLowerCase() ? nativeDecimals(chainId) : undefined);
}

type ClosedRow = Row<
	"book_days",
	| "day"
	| "chain_id"
	| "token"
	| "after_posting"
	| "last_posting"
	| "last_block"
	| "opening"
	| "closing"
	| "usd_opening"
	| "usd_closing"
	| "positions36"
	| "agreed"
> & { after_block: number };

/** Returns the closed books of these days, by chain and day. */
export async function readClosedPeriods(db: Database, days: readonly string[]): Promise<Period[]> {
	const { rows } = await db.query<ClosedRow>(
		`select d.day, d.chain_id, d.token, d.after_posting, d.last_posting, d.last_block, d.opening, d.closing,
			d.usd_opening, d.usd_closing, d.positions36, d.agreed,
			(select coalesce(max(b.last_block), 0) from book_days b
				where b.chain_id = d.chain_id and b.last_posting = d.after_posting) as after_block
		from book_days d where d.day = any($1) order by d.chain_id, d.day, d.token`,
		[days],
	);
	return [...Map.groupBy(rows, ({ chain_id, day }) => `${chain_id} ${day}`).values()].flatMap((some) => {
		const [first] = some;
		if (!first) return [];
		return {
			day: first.day,
			chainId: first.chain_id,
			isClosed: true,
			afterPosting: first.after_posting,
			lastPosting: first.last_posting,
			afterBlock: first.after_block,
			lastBlock: first.last_block,
			tokens: some.map((row): PeriodToken => {
				return {
					token: bytesToHex(row.token),
					opening: row.opening,
					closing: row.closing,
					usdOpening: (row.usd_opening ?? undefined) as UsdE18 | undefined,
					usdClosing: (row.usd_closing ?? undefined) as UsdE18 | undefined,
					positions36: row.positions36 ?? undefined,
					agreed: row.agreed ?? undefined,
				};
			}),
		};
	});
}

/** A chain whose books are not closed for a day. */
export type MissingDay = {
	day: string;
	chainId: number;
	/** The day whose books have its postings, because the chain was not followed in between. */
	inDay: string | undefined;
};

/** Returns which chains, of those whose books had begun, have no books of their own for each of these days. */
export async function readMissingDays(db: Database, days: readonly string[]): Promise<MissingDay[]> {
	const { rows } = await db.query<{ day: string; chain_id: number; in_day: string | null }>(
		`select d.day, h.chain_id,
			(select min(later.day) from book_days later where later.chain_id = h.chain_id and later.day > d.day) as in_day
		from unnest($1::text[]) as d (day) cross join chain_heads h
		where exists (
				select from postings p where p.key = h.chain_id || ':opening'
					and to_char(p.at at time zone 'utc', 'YYYY-MM-DD') <= d.day
			)
			and not exists (select from book_days b where b.chain_id = h.chain_id and b.day = d.day)
		order by d.day, h.chain_id`,
		[days],
	);
	return rows.map(({ day, chain_id, in_day }) => ({
		day,
		chainId: chain_id,
		inDay: in_day ?? undefined,
	}));
}

/**
 * Returns the books of each chain from its last closed day on, up to what is booked now. Their closing is what the ledger
 * has, which is compared with the chain only when the day is closed.
 */
export async function readOpenPeriods(
	db: Database,
	{ day, decimalsOf }: { day: string; decimalsOf: DecimalsOf },
): Promise<Period[]> {
	const { rows } = await db.query<{ chain_id: number; booked_number: number; last: number }>(
		`select h.chain_id, h.booked_number, (select coalesce(max(id), 0) from postings) as last
		from chain_heads h where exists (select from postings p where p.key = h.chain_id || ':opening')
		order by h.chain_id`,
	);
	const periods: Period[] = [];
	for (const { chain_id: chainId, booked_number: booked, last } of rows) {
		const before = await readLastDay(db, chainId);
		const afterPosting = before?.lastPosting ?? (await readOpening(db, chainId));
		const afterBlock = before?.lastBlock ?? 0;
		const flows = await readFlows(db, { chainId, after: afterPosting, upTo: last });
		const openings = before?.closings ?? (await readOwnOf(db, afterPosting));
		const closings = await readOwnBalances(db, chainId);
		const lastBlock = [...flows.values()]
			.flatMap(({ changes }) => changes)
			.reduce((newest, { blockNumber }) => Math.max(newest, blockNumber), Math.max(booked, afterBlock));
		const blocks = { after: afterBlock, upTo: lastBlock };
		const marks = await readPriceMarks(db, { chainId, ...blocks });
		const tokens = [...new Set([...openings.keys(), ...flows.keys()])].sort();
		periods.push({
			day,
			chainId,
			isClosed: false,
			afterPosting,
			lastPosting: last,
			afterBlock,
			lastBlock,
			tokens: tokens.flatMap((token): PeriodToken[] => {
				const decimals = decimalsOf(chainId, token);
				if (decimals === undefined) return [];
				const opening = openings.get(token) ?? 0n;
				const changes = flows.get(token)?.changes ?? [];
				const explained = explainChange({
					opening,
					decimals,
					...blocks,
					changes,
					marks: marks.get(token) ?? [],
				});
				return [
					{
						token,
						opening,
						closing: closings.get(token) ?? 0n,
						usdOpening: explained?.usdOpening,
						usdClosing: explained?.usdClosing,
						positions36: explained?.positions36,
						agreed: undefined,
					},
				];
			}),
		});
	}
	return periods;
}

/** Returns what the ledger has of the desk's own money on a chain, by token. */
async function readOwnBalances(db: Database, chainId: number): Promise<Map<Hex, Amount>> {
	const { rows } = await db.query<Row<"ledger_balances", "token"> & { amount: string }>(
		`select token, sum(balance)::text as amount from ledger_balances
		where chain_id = $1 and account = any($2) group by token`,
		[chainId, ownAccounts],
	);
	return new Map(rows.map(({ token, amount }) => [bytesToHex(token), BigInt(amount)]));
}
