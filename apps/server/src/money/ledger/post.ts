import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
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
			)
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
