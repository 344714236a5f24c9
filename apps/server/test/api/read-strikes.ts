import type { Database } from "../../src/database/database.ts";
import {
	type AccountStrikes,
	type StrikesRow,
	strikesFromRow,
	strikesRow,
} from "../../src/swap/record/strike-account.ts";

/** Returns an account's strikes, as a submit reads them. */
export async function readStrikes(
	db: Database,
	{ accountId, nowMs }: { accountId: string; nowMs: number },
): Promise<AccountStrikes> {
	const { rows } = await db.query<StrikesRow>(strikesRow({ accountId, nowMs }));
	return strikesFromRow(rows[0] ?? { strikes: 0, struck_at: null }, { nowMs });
}
