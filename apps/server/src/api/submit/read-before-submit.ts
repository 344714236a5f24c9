import { isSolana, type Milliseconds, type Order, type SwapUuid, swapUuidTimeMs } from "@geoswap/protocol";
import { type Database, type DatabasePool, joinParts } from "../../database/database.ts";
import { ensurePartitions } from "../../database/migrate.ts";
import { wasRestoredSince } from "../../database/restores.ts";
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
import { expiredError, undecidedError } from "./submit-errors.ts";
import { waitForSubmits } from "./submit-swap.ts";

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

type LateOrder = {
	accountId: string;
	uuid: SwapUuid;
	order: Order;
	isExpired: boolean;
	expiresAtMs: Milliseconds;
	/** Returns true if an op that was submitted before a restore, and lost by it, may still open the order. */
	mayLand: () => Promise<boolean>;
	/** Returns whether the order was ever opened. */
	wasOpened: () => Promise<"opened" | "never" | "untold">;
};

/**
 * Returns true if the order is open although no swap of it is known and its op cannot be sent as if it were new,
 * because the op was submitted earlier, to a database that has been restored since. No caller may receive the answer
 * that nothing was executed, by this op or by another of the same quote. Returns false if the op may be sent. Throws if
 * it is too late for it.
 */
export async function isLateOrderOpen(
	pool: DatabasePool,
	{ accountId, uuid, order, isExpired, expiresAtMs, mayLand, wasOpened }: LateOrder,
): Promise<boolean> {
	const quotedAtMs = swapUuidTimeMs(uuid);
	// On an EVM chain the same op opens the same order, and only once, so only there may it be sent as if it were new.
	const isForgettable = isExpired || isSolana(order.originChainId);
	const mayBeForgotten = isForgettable && (await wasRestoredSince(pool, quotedAtMs));
	if (!isExpired && !mayBeForgotten) return false;
	// `mayLand` is called first, so that `wasOpened` finds a transaction that lands in between.
	const isUndecided = mayBeForgotten && (await mayLand());
	const found = await wasOpened();
	if (found === "never" && isUndecided) throw undecidedError(order);
	if (found !== "opened") {
		// A copy of this submit that came in time may be about to create the swap in another process.
		await waitForSubmits(pool, accountId);
		throw expiredError(expiresAtMs, found);
	}
	// The swap's day may be older than any partition of a database that was just restored.
	await ensurePartitions(pool, { nowMs: quotedAtMs, daysAhead: 0 });
	return true;
}
