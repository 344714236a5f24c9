import { firstSwapUuidAt, type Milliseconds, type SwapStatus, type SwapUuid } from "@geoswap/protocol";
import { findApiKeysIn } from "../../api/key/api-key.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { findSwaps, parseSwapKey, type SwapKey } from "../../operate/swaps/find-swaps.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";
import {
	type ChainPace,
	isStuckSql,
	paceSql,
	paceValues,
	swapsWithPaceSql,
} from "../../swap/record/stuck-swaps.ts";

export type SwapFilter = {
	status?: SwapStatus | undefined;
	/** True for swaps that have not ended, regardless of their status. */
	isUnderWay?: boolean;
	originChainId?: string | undefined;
	destinationChainId?: string | undefined;
	accountId?: string | undefined;
	/** If given, only swaps older than this id are listed. */
	before?: SwapUuid | undefined;
};

/** Queries cover at most this many daily partitions, because each query locks every partition that it may read. */
const maxDays = 30;
const dayMs = 86_400_000;

/** Returns swaps, newest first. */
export async function listConsoleSwaps(
	db: Database,
	{ filter, limit, nowMs }: { filter: SwapFilter; limit: number; nowMs: Milliseconds },
): Promise<SwapRecord[]> {
	const { rows } = await db.query<SwapRow>(
		namedParameters(
			`select ${swapColumns} from swaps
			where id >= $fromId and id < $beforeId
				and ($status::text is null or status = $status)
				and ($isUnderWay::boolean is not true or ended_at is null)
				and ($originChainId::text is null or order_terms->>'originChainId' = $originChainId)
				and ($destinationChainId::text is null or order_terms->>'destinationChainId' = $destinationChainId)
				and ($accountId::uuid is null or account_id = $accountId)
			order by id desc limit $limit`,
			{
				fromId: firstSwapUuidAt(Math.max(0, nowMs - maxDays * dayMs)),
				beforeId: filter.before ?? firstSwapUuidAt(nowMs + dayMs),
				status: filter.status ?? null,
				isUnderWay: filter.isUnderWay ?? false,
				originChainId: filter.originChainId ?? null,
				destinationChainId: filter.destinationChainId ?? null,
				accountId: filter.accountId ?? null,
				limit,
			},
		),
	);
	return rows.map(swapFromRow);
}

/** Returns the swaps with these ids, in their order. */
export async function readSwaps(db: Database, ids: readonly SwapUuid[]): Promise<SwapRecord[]> {
	const { rows } = await db.query<SwapRow>(
		`select ${swapColumns} from swaps where id = any($1) order by id desc`,
		[ids],
	);
	return rows.map(swapFromRow);
}

/**
 * Returns swaps that have not ended and make no progress, oldest first. A stuck swap can be of any age, but one that
 * is older than a month is found only by its id.
 */
export async function listStuckSwaps(
	db: Database,
	{
		paces,
		limit,
		after,
		nowMs,
	}: { paces: readonly ChainPace[]; limit: number; after?: SwapUuid | undefined; nowMs: Milliseconds },
): Promise<SwapUuid[]> {
	const { rows } = await db.query<{ id: SwapUuid }>(
		namedParameters(
			`${paceSql}
			select s.id from ${swapsWithPaceSql}
			where s.ended_at is null and s.id > $afterId and ${isStuckSql}
			order by s.id limit $limit`,
			{
				...paceValues(paces, nowMs),
				afterId: after ?? firstSwapUuidAt(Math.max(0, nowMs - maxDays * dayMs)),
				limit,
			},
		),
	);
	return rows.map(({ id }) => id);
}

/** Returns the last fact that a round found of each swap that has not ended. */
export async function readLastFacts(db: Database, ids: readonly SwapUuid[]): Promise<Map<SwapUuid, string>> {
	const { rows } = await db.query<{ swap_id: SwapUuid; fact: string | null }>(
		"select swap_id, fact from waits where swap_id = any($1)",
		[ids],
	);
	return new Map(rows.flatMap(({ swap_id, fact }) => (fact === null ? [] : [[swap_id, fact]])));
}

/** The swaps of a key, or the account that a text names. */
type Found =
	| { kind: "swaps"; ids: SwapUuid[]; by: SwapKey["kind"] }
	| { kind: "account"; accountId: string }
	| { kind: "nothing" };

/** How far back the swaps of an address are searched. */
export const addressDays = 30;

/**
 * Finds swaps by a copied text: the id of a swap, an order, a transaction, a wallet's or a recipient's address; or
 * the account of an API key, by its id or by the whole key; or an account by its id or name.
 */
export async function findAnything(
	db: Database,
	{
		text,
		limit,
		before,
		nowMs,
	}: { text: string; limit: number; before?: SwapUuid | undefined; nowMs: Milliseconds },
): Promise<Found> {
	const key = parse(text);
	if (key) {
		const ids = await findSwaps(db, key, { limit, days: addressDays, before, nowMs });
		if (ids.length > 0 || key.kind !== "swap") return { kind: "swaps", ids, by: key.kind };
	}
	const accountId = await findAccount(db, { text, uuid: key?.kind === "swap" ? key.uuid : undefined });
	return accountId === undefined ? { kind: "nothing" } : { kind: "account", accountId };
}

function parse(text: string): SwapKey | undefined {
	try {
		return parseSwapKey(text);
	} catch (error) {
		if (error instanceof ConfigError) return undefined;
		throw error;
	}
}

async function findAccount(
	db: Database,
	{ text, uuid }: { text: string; uuid: string | undefined },
): Promise<string | undefined> {
	const keyId = findApiKeysIn(text)[0]?.id ?? text;
	const { rows } = await db.query<{ id: string }>(
		`select id from accounts where id = $1
		union all select account_id from api_keys where id = $2
		union all select id from accounts where lower(name) = lower($3)
		limit 1`,
		[uuid ?? null, keyId, text],
	);
	return rows[0]?.id;
}
