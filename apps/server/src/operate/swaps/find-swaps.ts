import {
	firstSwapUuidAt,
	fromSwapId,
	parseAddress,
	type SwapUuid,
	solanaChainId,
	toWord,
} from "@geoswap/protocol";
import { getBase58Encoder } from "@solana/kit";
import { type Hex, hexToBytes, isAddress, isHex, size } from "viem";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";

export type SwapKey =
	| { kind: "swap"; uuid: SwapUuid }
	/** The bytes of an order id or of a transaction's hash. On an EVM chain both have 32. */
	| { kind: "hash"; bytes: Uint8Array }
	/** The word of the address in orders. */
	| { kind: "address"; word: Hex };

const dayMs = 86_400_000;

/** Parses a copied id, hash or address. Throws if it cannot identify a swap. */
export function parseSwapKey(text: string): SwapKey {
	const uuid = fromSwapId(text);
	if (uuid) return { kind: "swap", uuid };
	if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) {
		return { kind: "swap", uuid: text.toLowerCase() as SwapUuid };
	}
	// An address with wrong upper or lower case is still searched.
	if (isAddress(text, { strict: false })) return { kind: "address", word: toWord(text) };
	if (isHex(text) && size(text) === 32) return { kind: "hash", bytes: hexToBytes(text) };
	const solanaWord = parseAddress(solanaChainId, text);
	if (solanaWord) return { kind: "address", word: solanaWord };
	if (/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text)) {
		return { kind: "hash", bytes: Uint8Array.from(getBase58Encoder().encode(text)) };
	}
	throw new ConfigError(
		"<key>",
		`${text} is neither the id of a swap (swp_…, or its UUID), an order id, a transaction nor an address`,
	);
}

type FindOptions = {
	limit: number;
	days: number;
	/** If given, only swaps of an address that are older than this one. */
	before?: SwapUuid | undefined;
	nowMs: number;
};

/** Returns the swaps with this key, newest first. For an address, only those of the last `days` days. */
export async function findSwaps(
	db: Database,
	key: SwapKey,
	{ limit, days, before, nowMs }: FindOptions,
): Promise<SwapUuid[]> {
	const { rows } = await db.query<{ id: SwapUuid }>(statementFor(key, { days, before, nowMs, limit }));
	if (rows.length > 0 || key.kind !== "hash") return rows.map(({ id }) => id);
	// A third party's transaction is known only by its events, which have no index by transaction.
	const { rows: foreign } = await db.query<{ id: SwapUuid }>(
		`select distinct s.id from chain_events e join swaps s using (order_id) where e.transaction_hash = $1
		order by s.id desc limit $2`,
		[key.bytes, limit],
	);
	return foreign.map(({ id }) => id);
}

function statementFor(
	key: SwapKey,
	{ limit, days, before, nowMs }: FindOptions,
): { text: string; values: unknown[] } {
	switch (key.kind) {
		case "swap":
			return { text: "select id from swaps where id = $1", values: [key.uuid] };
		case "hash":
			return {
				text: `select distinct id from (
						select id from swaps where order_id = $1
						union all
						select (job->>'swapId')::uuid from chain_heads h join lane_transactions t using (chain_id)
							cross join jsonb_array_elements(t.jobs) job
						where t.hash = $1 and job ? 'swapId'
					) found order by id desc limit $2`,
				values: [key.bytes, limit],
			};
		case "address":
			// No index has all wallets. A bound in time keeps this query from reading, and locking, every partition.
			return {
				text: `select id from swaps
					where (order_terms->>'wallet' = $1 or order_terms->>'recipient' = $1) and id >= $2
						and ($3::uuid is null or id < $3)
					order by id desc limit $4`,
				values: [key.word, firstSwapUuidAt(Math.max(0, nowMs - days * dayMs)), before ?? null, limit],
			};
	}
}
