import type { Milliseconds, SwapUuid } from "@geoswap/protocol";
import { findApiKeysIn } from "../../api/key/api-key.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";
import { findSwaps, parseSwapKey, type SwapKey } from "../../operate/swaps/find-swaps.ts";

/** The swaps of a key, or the account that a text names. */
export type Found =
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
