import type { UsdE18 } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";

export type PricedAsset = { chainId: number; token: Hex; usdE18: UsdE18 };

/**
 * Writes the prices that have changed, as of each chain's newest block. A block that already has a mark, or a later one,
 * gets none, so a value that was computed once stays the same.
 */
export async function savePriceMarks(db: Database, prices: readonly PricedAsset[]): Promise<void> {
	if (prices.length === 0) return;
	await db.query(
		`insert into price_marks (chain_id, token, block_number, usd_e18)
		select p.chain_id, p.token, h.number, p.usd_e18
		from unnest($1::bigint[], $2::bytea[], $3::numeric[]) as p (chain_id, token, usd_e18)
		join chain_heads h using (chain_id)
		left join lateral (
			select block_number, usd_e18 from price_marks m where m.chain_id = p.chain_id and m.token = p.token
			order by block_number desc limit 1
		) as newest on true
		where newest.block_number is null or (newest.block_number < h.number and newest.usd_e18 <> p.usd_e18)
		on conflict do nothing`,
		[
			prices.map(({ chainId }) => chainId),
			prices.map(({ token }) => Buffer.from(hexToBytes(token))),
			prices.map(({ usdE18 }) => usdE18),
		],
	);
}

/** A price, in force from its block until the next mark. */
export type PriceMark = { blockNumber: number; usdE18: UsdE18 };

/**
 * Returns the marks of a chain's tokens that are in force in the blocks after `after`, up to `upTo`, oldest first. The
 * first mark of a token is in force before its block too.
 */
export async function readPriceMarks(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<Map<Hex, PriceMark[]>> {
	const { rows } = await db.query<Row<"price_marks", "token" | "block_number" | "usd_e18">>(
		`select token, block_number, usd_e18 from price_marks m
		where chain_id = $1 and block_number <= greatest($3, (
				select min(block_number) from price_marks f where f.chain_id = m.chain_id and f.token = m.token
			))
			and block_number >= coalesce((
				select max(block_number) from price_marks b
				where b.chain_id = m.chain_id and b.token = m.token and b.block_number <= $2
			), 0)
		order by token, block_number`,
		[chainId, after, upTo],
	);
	const marks = new Map<Hex, PriceMark[]>();
	for (const { token, block_number, usd_e18 } of rows) {
		const key = bytesToHex(token);
		marks.set(key, [...(marks.get(key) ?? []), { blockNumber: block_number, usdE18: usd_e18 as UsdE18 }]);
	}
	return marks;
}
