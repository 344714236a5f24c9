import type { Milliseconds, Order } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { joinParts } from "../../database/database.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";
import {
	type AccountRefusals,
	type RefusalsRow,
	refusalsFromRow,
	refusalsRow,
} from "../../swap/record/record-refusal.ts";
import {
	type UnopenedRow,
	unopenedFromRow,
	unopenedRows,
	type WalletUnopened,
} from "../origin/wallet-unopened.ts";

export type BeforeSubmit = {
	/** The swap that already has the order's id. Its terms may be different. */
	swap: SwapRecord | undefined;
	refusals: AccountRefusals;
	unopened: WalletUnopened[];
};

type BeforeRow = RefusalsRow & { unopened: UnopenedRow[] | null } & (SwapRow | { id: null });

/** Reads what a submit needs before it calls the chain. */
export async function readBeforeSubmit(
	db: Database,
	{ order, accountId, nowMs }: { order: Order; accountId: string; nowMs: Milliseconds },
): Promise<BeforeSubmit> {
	const { texts, values } = joinParts([unopenedRows({ order, nowMs }), refusalsRow({ accountId, nowMs })]);
	const [unopened, refused] = texts;
	const { rows } = await db.query<BeforeRow>({
		name: "read-before-submit",
		text: `select refusals, refused_at, (select jsonb_agg(other) from (${unopened}) other) as unopened,
				${swapColumns}
			from (${refused}) refused left join swaps on id = $3`,
		values,
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has a row");
	return {
		swap: row.id === null ? undefined : swapFromRow(row),
		refusals: refusalsFromRow(row, { nowMs }),
		unopened: (row.unopened ?? []).map((other) => unopenedFromRow(order, other)),
	};
}
