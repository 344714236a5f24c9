import { type Hex, hexToBytes } from "viem";
import type { Database } from "../database.ts";
import type { Entry } from "./event-entries.ts";

export type Posting = {
	/** What can happen only once. */
	key: string;
	chainId: number;
	blockNumber: number;
	name: string;
	orderId: Hex | undefined;
	entries: readonly Entry[];
};

/** Writes what is not written yet, and returns that. */
export async function post(db: Database, postings: readonly Posting[]): Promise<Posting[]> {
	if (postings.length === 0) return [];
	const { rows } = await db.query<{ id: number; key: string }>(
		`insert into postings (key, chain_id, block_number, name, order_id)
		select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[])
		on conflict (key) do nothing returning id, key`,
		[
			postings.map((posting) => posting.key),
			postings.map((posting) => posting.chainId),
			postings.map((posting) => posting.blockNumber),
			postings.map((posting) => posting.name),
			postings.map((posting) => (posting.orderId ? hexToBytes(posting.orderId) : null)),
		],
	);
	const ids = new Map(rows.map((row) => [row.key, row.id]));
	const entries = postings.flatMap(({ key, chainId, entries }) => {
		const postingId = ids.get(key);
		return postingId === undefined ? [] : entries.map((entry) => ({ ...entry, postingId, chainId }));
	});
	await db.query(
		`insert into entries (posting_id, account, chain_id, token, amount)
		select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[], $5::numeric[])`,
		[
			entries.map((entry) => entry.postingId),
			entries.map((entry) => entry.account),
			entries.map((entry) => entry.chainId),
			entries.map((entry) => hexToBytes(entry.token)),
			entries.map((entry) => entry.amount),
		],
	);
	return postings.filter(({ key }) => ids.has(key));
}
