import { createHash } from "node:crypto";
import { SwapError, type SwapUuid } from "@geoswap/protocol";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { readSwap } from "../../swap/record/read-swap.ts";

/** 144 bits, so links cannot be guessed, and 24 characters need no padding. */
const tokenBytes = 18;
const pattern = /^[\w-]{24}$/;

/** Creates the secret part of a link. */
export function newShareToken(random: (bytes: number) => Uint8Array): string {
	return Buffer.from(random(tokenBytes)).toString("base64url");
}

/** Returns the stored form of a token, or undefined if the text cannot be one. */
function shareTokenHash(token: string): Buffer | undefined {
	return pattern.test(token) ? createHash("sha256").update(token).digest() : undefined;
}

/** Links that a swap can have. One more replaces the oldest. */
const most = 20;

/** Inserts a link. Inserts for one swap run one after the other, because concurrent ones could exceed the limit. */
export async function insertShare(
	pool: DatabasePool,
	{ token, swapId }: { token: string; swapId: SwapUuid },
): Promise<void> {
	await inTransaction(pool, async (db) => {
		await db.query("select pg_advisory_xact_lock(hashtextextended('shares:' || $1, 0))", [swapId]);
		await db.query(
			`with oldest as (
				delete from swap_shares where token_hash in (
					select token_hash from swap_shares where swap_id = $2
					order by created_at desc, token_hash offset $3::integer - 1)
			)
			insert into swap_shares (token_hash, swap_id) values ($1, $2)`,
			[shareTokenHash(token), swapId, most],
		);
	});
}

/** Deletes all links of a swap. Returns how many there were. */
export async function deleteShares(db: Database, swapId: SwapUuid): Promise<number> {
	const { rowCount } = await db.query("delete from swap_shares where swap_id = $1", [swapId]);
	return rowCount ?? 0;
}

/** Returns the swap that a link shows. Throws the same error for a link that never existed and for a revoked one. */
export async function readSharedSwap(db: Database, token: string): Promise<SwapRecord> {
	const hash = shareTokenHash(token);
	const swapId = hash && (await readSwapId(db, hash));
	const swap = swapId && (await readSwap(db, swapId));
	if (swap) return swap;
	throw new SwapError("NOT_FOUND", undefined, {
		message: "This link shows nothing. It is incomplete, or it was revoked. Ask the sender for another one.",
	});
}

async function readSwapId(db: Database, hash: Buffer): Promise<SwapUuid | undefined> {
	const { rows } = await db.query<Row<"swap_shares", "swap_id">>(
		"select swap_id from swap_shares where token_hash = $1",
		[hash],
	);
	return rows[0]?.swap_id;
}
