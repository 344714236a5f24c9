import type { Amount, Milliseconds } from "@geoswap/protocol";
import type pg from "pg";
import type { Finding } from "../read/report.ts";

/** Hours after midnight, UTC, by which the day before must be closed. */
const closedByHour = 6;
const dayMs = 86_400_000;
/** The days that an audit without a memory checks. */
const checkedDays = 3;

type DayRow = {
	day: string;
	chain: string;
	token: string;
	opening: string;
	closing: string;
	usd_opening: string | null;
	usd_closing: string | null;
	flows36: string | null;
	positions36: string | null;
	agreed: boolean | null;
	/** The closing of the day before; null on the first day. */
	before: string | null;
	/** The change of the desk's own money by the entries of the day. */
	changed: string;
	/** The value of these entries, each at the price of its block. Null if there is no price. */
	flows_again36: string | null;
	decimals: number | null;
};

/**
 * I19: each closed day of the books follows from the entries of the ledger, in units and in USD, and the chain agrees at
 * several providers. Pauses nothing, because balances and orders are checked by themselves.
 */
export async function checkDays(
	pool: pg.Pool,
	{
		tokens,
		sinceMs,
		nowMs,
	}: {
		/** The tokens that the service offers, in hex without a prefix, with their decimals. */
		tokens: readonly { chainId: number; token: string; symbol: string; decimals: number }[];
		/** Only days closed after this time are checked. By default the last ones. */
		sinceMs: Milliseconds | undefined;
		nowMs: Milliseconds;
	},
): Promise<{ checked: number; breaches: Finding[] }> {
	const { rows } = await pool.query<DayRow>(
		`select d.day, d.chain_id::text as chain, encode(d.token, 'hex') as token, d.opening::text as opening,
			d.closing::text as closing, d.usd_opening::text as usd_opening, d.usd_closing::text as usd_closing,
			d.flows36::text as flows36, d.positions36::text as positions36, d.agreed,
			before.closing::text as before,
			flows.changed::text as changed, flows.value::text as flows_again36, t.decimals
		from book_days d
		left join unnest($1::bigint[], $2::text[], $3::int[]) as t (chain_id, token, decimals)
			on t.chain_id = d.chain_id and t.token = encode(d.token, 'hex')
		left join book_days before on before.chain_id = d.chain_id and before.token = d.token
			and before.last_posting = d.after_posting
		cross join lateral (
			select max(b.last_block) as after_block from book_days b
			where b.chain_id = d.chain_id and b.last_posting = d.after_posting
		) as first
		cross join lateral (
			select coalesce(sum(e.amount), 0) as changed,
				coalesce(sum(e.amount * coalesce(
					(select m.usd_e18 from price_marks m where m.chain_id = d.chain_id and m.token = d.token
						and m.block_number <= greatest(p.block_number, first.after_block) order by m.block_number desc limit 1),
					(select m.usd_e18 from price_marks m where m.chain_id = d.chain_id and m.token = d.token
						order by m.block_number limit 1)
				)) * power(10::numeric, 18 - t.decimals), 0) as value
			from entries e join postings p on p.id = e.posting_id
			where p.id > d.after_posting and p.id <= d.last_posting and e.chain_id = d.chain_id and e.token = d.token
				and e.account in ('inventory', 'relayer', 'bridge', 'locked', 'credit:vault')
		) as flows
		where d.closed_at > $4 order by d.day, d.chain_id, d.token`,
		[
			tokens.map(({ chainId }) => chainId),
			tokens.map(({ token }) => token),
			tokens.map(({ decimals }) => decimals),
			new Date(sinceMs ?? nowMs - checkedDays * dayMs),
		],
	);
	const breaches: Finding[] = [];
	const breach = (chainId: number, message: string) =>
		breaches.push({ invariant: "I19", message, chainIds: [chainId], pauses: false });
	for (const row of rows) {
		const { day, chain, token, agreed } = row;
		const symbol =
			tokens.find((one) => String(one.chainId) === chain && one.token === token)?.symbol ?? `0x${token}`;
		const problem = problemOf(row);
		const what = `${symbol} on chain ${chain} on ${day}`;
		if (problem) breach(Number(chain), `the books of ${what} do not close: ${problem}`);
		if (agreed === false) breach(Number(chain), `two providers report different closing balances of ${what}`);
	}
	for (const { chain, day } of await readOpenDays(pool, nowMs)) {
		breach(Number(chain), `the books of chain ${chain} are not closed for ${day}`);
	}
	for (const { chain, booked, paid } of await readGas(pool, sinceMs ?? nowMs - checkedDays * dayMs)) {
		breach(Number(chain), `${booked} of gas is booked on chain ${chain}, but its transactions cost ${paid}`);
	}
	return { checked: rows.length, breaches };
}

/** Returns why a day does not follow from its entries; undefined if it does. */
function problemOf(row: DayRow): string | undefined {
	const [opening, closing, changed] = [row.opening, row.closing, row.changed].map(BigInt) as [
		Amount,
		Amount,
		Amount,
	];
	if (row.before !== null && BigInt(row.before) !== opening) {
		return `it opens with ${opening}, and the day before closed with ${row.before}`;
	}
	if (opening + changed !== closing) {
		return `it opens with ${opening}, the entries add ${changed}, and the chain has ${closing}`;
	}
	// A token that the service does not offer has no price, except for gas.
	if (row.decimals === null) return undefined;
	const { usd_opening, usd_closing, flows36, positions36, flows_again36 } = row;
	if (usd_opening === null || usd_closing === null || flows36 === null || positions36 === null)
		return opening === 0n && changed === 0n ? undefined : "it has entries without a price";
	const scale = 10n ** BigInt(18 - row.decimals);
	const change36 = (closing * BigInt(usd_closing) - opening * BigInt(usd_opening)) * scale;
	if (flows_again36 === null || wholeOf(flows_again36) !== BigInt(flows36)) {
		return "its entries have another value than was written";
	}
	if (BigInt(flows36) + BigInt(positions36) !== change36) {
		return `flows and positions differ from the change of value by ${change36 - BigInt(flows36) - BigInt(positions36)} of 10^-36 USD`;
	}
	return undefined;
}

/** Parses a numeric of PostgreSQL that is a whole number. */
function wholeOf(text: string): bigint {
	return BigInt(text.replace(/\.0+$/, ""));
}

/** Returns the chains whose books were not closed for yesterday, hours after midnight. */
async function readOpenDays(pool: pg.Pool, nowMs: Milliseconds): Promise<{ chain: string; day: string }[]> {
	const midnightMs = nowMs - (nowMs % dayMs);
	if (nowMs - midnightMs < closedByHour * 3_600_000) return [];
	const day = new Date(midnightMs - dayMs).toISOString().slice(0, 10);
	const { rows } = await pool.query<{ chain: string; day: string }>(
		`select chain_id::text as chain, $1 as day from postings p
		where name = 'opening' and at < $2 and exists (select from chain_heads h where h.chain_id = p.chain_id)
			and not exists (select from book_days d where d.chain_id = p.chain_id and d.day >= $1)
		order by chain_id`,
		[day, new Date(midnightMs)],
	);
	return rows;
}

/** Returns the chains on which the booked gas of recent transactions is not what these cost. */
async function readGas(
	pool: pg.Pool,
	sinceMs: Milliseconds,
): Promise<{ chain: string; booked: string; paid: string }[]> {
	const { rows } = await pool.query<{ chain: string; booked: string; paid: string }>(
		`with booked as (
			select p.chain_id, split_part(p.key, ':', 3) as hash, sum(e.amount) as amount
			from postings p join entries e on e.posting_id = p.id
			where p.name = 'gas' and p.at > $1 and e.account = 'gas' group by 1, 2
		)
		select b.chain_id::text as chain, sum(b.amount)::text as booked, sum(t.gas_cost)::text as paid
		from booked b join lane_transactions t on t.chain_id = b.chain_id and t.hash = decode(substr(b.hash, 3), 'hex')
		group by 1 having sum(b.amount) <> sum(t.gas_cost) order by 1`,
		[new Date(sinceMs)],
	);
	return rows;
}
