import type { Database } from "../../src/database/database.ts";
import {
	type AccountRefusals,
	type RefusalsRow,
	refusalsFromRow,
	refusalsRow,
} from "../../src/swap/record/record-refusal.ts";

/** Returns an account's refusals, as a submit reads them. */
export async function readRefusals(
	db: Database,
	{ accountId, nowMs }: { accountId: string; nowMs: number },
): Promise<AccountRefusals> {
	const { rows } = await db.query<RefusalsRow>(refusalsRow({ accountId, nowMs }));
	return refusalsFromRow(rows[0] ?? { refusals: 0, refused_at: null }, { nowMs });
}
