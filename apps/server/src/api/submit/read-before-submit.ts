import type { Milliseconds, Order } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { joinParts } from "../../database/statement-part.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { type SwapRow, swapColumns, swapFromRow } from "../../swap/record/read-swap.ts";
import {
	type AccountStrikes,
	type StrikesRow,
	strikesFromRow,
	strikesRow,
} from "../../swap/record/strike-account.ts";
import {
	type UnopenedRow,
	unopenedFromRow,
	unopenedRows,
	type WalletUnopened,
} from "../origin/wallet-unopened.ts";

export type BeforeSubmit = {
	/** The swap that already has the order's id. Its terms may be different. */
	swap: SwapRecord | undefined;
	strikes: AccountStrikes;
	unopened: WalletUnopened[];
};

type BeforeRow = StrikesRow & { unopened: UnopenedRow[] | null } & (SwapRow | { id: null });

/** Reads what a submit needs to know before it asks the chain. */
export async function readBeforeSubmit(
	db: Database,
	{ order, accountId, nowMs }: { order: Order; accountId: string; nowMs: Milliseconds },
): Promise<BeforeSubmit> {
	const { texts, values } = joinParts([unopenedRows({ order, nowMs }), strikesRow({ accountId, nowMs })]);
	const [unopened, struck] = texts;
	const { rows } = await db.query<BeforeRow>({
		name: "read-before-submit",
		text: `select strikes, struck_at, (select jsonb_agg(other) from (${unopened}) other) as unopened,
				${swapColumns}
			from (${struck}) struck left join swaps on id = $3`,
		values,
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has a row");
	return {
		swap: row.id === null ? undefined : swapFromRow(row),
		strikes: strikesFromRow(row, { nowMs }),
		unopened: (row.unopened ?? []).map((other) => unopenedFromRow(order, other)),
	};
}
