import {
	type Amount,
	type FailureCode,
	type Milliseconds,
	nativeTokenOf,
	type Order,
	orderId,
	orderToJson,
	type Seconds,
	type SwapUuid,
	type UsdCents,
	unpackDeadlines,
} from "@geoswap/protocol";
import pg from "pg";
import { type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { type InFlight, pairColumns } from "../../money/inventory/inventory-balance.ts";
import { giveBack, takeTopUp } from "../../money/inventory/reservations.ts";
import type { AttestersWanted } from "../../swap/facts/facts.ts";
import type { HoldingLimit, Pair, Reservation, UnopenedLimits } from "../../swap/facts/reservation.ts";
import type {
	Delivery,
	NetworkCost,
	SignedOp,
	SignedSolanaOp,
	SwapRecord,
} from "../../swap/facts/swap-record.ts";
import {
	readSwap,
	type SwapRow,
	swapColumnNames,
	swapColumns,
	swapFromRow,
} from "../../swap/record/read-swap.ts";
import { deliveryToJson, networkCostToJson, signedOpToJson } from "../../swap/record/swap-json.ts";
import { readStanding, type Standing } from "./read-standing.ts";

export type NewSwap = {
	id: SwapUuid;
	accountId: string;
	order: Order;
	/** The quoted output. */
	output: Amount;
	valueUsdCents: UsdCents;
	feeMillibps: number;
	/** The amount that inventory added to the price; 0 if absent. */
	skewCentibps?: number | undefined;
	networkCost?: NetworkCost | undefined;
	delivery: Delivery;
	op: SignedOp | SignedSolanaOp;
	/** The trace that its submit began (a W3C traceparent), if it is traced. */
	trace?: string | undefined;
};

export type SubmitOutcome =
	| { outcome: "created" | "existing"; swap: SwapRecord }
	/**
	 * The reasons, in the order of `Refusal`: the price fell below the order's minimum; there is too little inventory,
	 * or too much of the input; the swap is a larger share of the inventory than one may take; the account has too much
	 * unopened; too few of the attesters that would decide the order are alive; the op expired during the submit.
	 */
	| { outcome: Refusal };

type Refusal = "price" | "inventory" | "share" | "unopened" | "attesters" | "expired";

/** A swap to create, and everything that decides whether it is created. */
type Submission = {
	swap: NewSwap;
	/** The ladders to which the swap adds volume. */
	pairs: readonly Pair[];
	/** Prices the swap with this much other volume in flight; undefined if it is below the minimum. */
	reserve: (inFlight: InFlight) => Reservation | undefined;
	isOpened: boolean;
	/**
	 * When the op expires. Compared with the clock once no other submit can write for the account, so that a swap which
	 * was reported as expired by then is not created. Absent if it does not matter.
	 */
	expiresAtMs?: Milliseconds | undefined;
	/** Called once no other submit can write for the account or the wallet. Throws if the swap must not be created. */
	admit: (standing: Standing) => void;
	/** Orders of the wallet that were already subtracted from its balance. */
	countedOrders: readonly Hex[];
	limits: UnopenedLimits & { reservationSeconds: Seconds };
	/** Set if the amount of the input token that the vault may hold is limited. */
	holdingLimit?: HoldingLimit | undefined;
	/**
	 * The value up to which a deposit on the swap's origin need not be final before delivery. Absent if every deposit
	 * must be final.
	 */
	unfinalUpToUsdCents?: UsdCents | undefined;
	/** The maximum value of the account's other swaps of the last 24 hours. Absent if it is not limited. */
	roomUsdCents?: UsdCents | undefined;
	/** Set if attesters decide the order. */
	attesters?: (AttestersWanted & { threshold: number }) | undefined;
	nowMs: () => Milliseconds;
};

/**
 * Reserves what the swap needs and inserts it, or does nothing. An existing swap is returned regardless of what the
 * outcome would have been otherwise. A swap whose order is open on chain is inserted even if nothing can be reserved,
 * and will be refunded.
 *
 * Locks are taken in one order everywhere: account, wallet, ladders by (chain, token, direction), inventory. The swap
 * comes last here and first in `takeHolds`. Both are right, because this function only inserts a new id, which no
 * decision can hold. A second submit of the id waits for the account's lock before it holds anything, and a swap that
 * was rebuilt in the meantime has nothing reserved, so its decisions do not wait for inventory.
 */
export async function submitSwap(pool: DatabasePool, submission: Submission): Promise<SubmitOutcome> {
	const { swap, isOpened, attesters, expiresAtMs, nowMs } = submission;
	try {
		return await inTransaction(
			pool,
			async (db, locked): Promise<SubmitOutcome> => {
				if ((locked as { is_known: boolean } | undefined)?.is_known) throw new NothingWritten("existing");
				if (expiresAtMs !== undefined && nowMs() > expiresAtMs) throw new NothingWritten("expired");
				const { standing, attestersAlive, inFlight } = await readStanding(db, {
					...submission,
					nowMs: nowMs(),
				});
				submission.admit(standing);
				if (attesters && !isOpened && attestersAlive < attesters.threshold) {
					throw new NothingWritten("attesters");
				}
				const reservation = submission.reserve(inFlight);
				if (!reservation && !isOpened) throw new NothingWritten("price");
				const isToppedUp = reservation !== undefined && (await reserveTopUp(db, submission, reservation));
				if (reservation && !isToppedUp && !isOpened) throw new NothingWritten("inventory");
				const { has_room, is_reserved, is_over_share, ...row } = await insertSwap(db, {
					...submission,
					reservation: isToppedUp ? reservation : undefined,
					withoutReservation: reservation ? "NO_LIQUIDITY" : "PRICE_MOVED",
					sold: inFlight.sell + swap.order.inputAmount,
					turn: standing.unopened.turn,
				});
				if (row.id !== null) {
					if (isToppedUp && !is_reserved) await giveTopUpBack(db, submission, reservation);
					await startSwap(db, submission);
					return { outcome: "created", swap: swapFromRow(row as SwapRow) };
				}
				if (is_reserved || isOpened) throw new NothingWritten("existing");
				throw new NothingWritten(is_over_share ? "share" : has_room ? "inventory" : "unopened");
			},
			{ first: lockAccountAndWallet(swap) },
		);
	} catch (error) {
		if (!(error instanceof NothingWritten)) throw error;
		// A concurrent submit may have taken the last of the inventory for this very swap.
		const existing = await readSwap(pool, swap.id);
		if (existing) return { outcome: "existing", swap: existing };
		if (error.why === "existing") throw error;
		return { outcome: error.why };
	}
}

/** Thrown to roll back the transaction. */
class NothingWritten extends Error {
	override name = "NothingWritten";
	readonly why: "existing" | Refusal;

	constructor(why: NothingWritten["why"]) {
		super(`the swap was not inserted: ${why}`);
		this.why = why;
	}
}

/** Reserves the order's top-up. Returns false if there is too little for it, and true if the order has none. */
async function reserveTopUp(
	db: Database,
	{ swap: { order, accountId }, isOpened, limits }: Submission,
	{ chainId }: Reservation,
): Promise<boolean> {
	const { topUp: amount } = order;
	if (amount === 0n) return true;
	// An open order is owed its top-up, regardless of its share of the inventory.
	const shareOfInventory = isOpened ? 1 : limits.shareOfInventory;
	return takeTopUp(db, { chainId, amount, accountId, shareOfInventory });
}

/** Gives back the top-up of an open order that is refunded because there is too little of its output. */
async function giveTopUpBack(
	db: Database,
	{ swap: { order } }: Submission,
	{ chainId }: Reservation,
): Promise<void> {
	if (order.topUp > 0n) await giveBack(db, { chainId, token: nativeTokenOf(chainId), amount: order.topUp });
}

/** Milliseconds until a round checks the swap if nothing happens earlier. */
const lookAfterMs = 60_000;

/**
 * Does the work of the first round: queues the open, unless the order is open, and stores when a round is next due.
 * If the order is open, a round is due immediately.
 */
async function startSwap(
	db: Database,
	{
		swap,
		isOpened,
		limits,
		nowMs,
	}: { swap: NewSwap; isOpened: boolean; limits: { reservationSeconds: Seconds }; nowMs: () => Milliseconds },
): Promise<void> {
	const openMs = Number(unpackDeadlines(swap.order.deadlines).openDeadline) * 1_000 - nowMs();
	// A round is due by the time the reservation lapses or the order can no longer be opened.
	const dueMs = isOpened ? 0 : Math.max(0, Math.min(lookAfterMs, limits.reservationSeconds * 1_000, openMs));
	await db.query({
		name: "start-swap",
		text: "select start_swap($1, now() + $2 * interval '1 millisecond', $3)",
		values: [swap.id, dueMs, isOpened],
	});
}

/** Waits until every submit that was writing a swap of the account at the time of the call has committed or failed. */
export async function waitForSubmits(db: Database, accountId: string): Promise<void> {
	await db.query({
		name: "wait-for-submits",
		text: "select pg_advisory_xact_lock(hashtextextended('account:' || $1, 0))",
		values: [accountId],
	});
}

/**
 * Returns the statement that locks the account, then the wallet. Their swaps in flight are read later, and must not
 * grow in between.
 */
function lockAccountAndWallet({ id, accountId, order }: NewSwap): string {
	const locks = [`account:${accountId}`, `wallet:${order.originChainId}:${order.wallet}`];
	const taken = locks.map((name) => `pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(name)}, 0))`);
	return `select exists (select from swaps where id = ${pg.escapeLiteral(id)}) as is_known, ${taken.join(", ")}`;
}

type InsertRow = { has_room: boolean; is_reserved: boolean; is_over_share: boolean } & (
	| SwapRow
	| { id: null }
);

/**
 * Inserts the swap in one statement, so that the inventory row, which all swaps to that token need, is held only
 * briefly.
 */
async function insertSwap(
	db: Database,
	{
		swap,
		reservation,
		withoutReservation,
		sold,
		turn,
		isOpened,
		limits,
		holdingLimit,
		nowMs,
	}: Submission & {
		reservation: Reservation | undefined;
		/** Why the swap is given up if nothing is reserved for it. */
		withoutReservation: FailureCode;
		/** The amount of the input token in flight, including this swap. */
		sold: bigint;
		turn: number;
	},
): Promise<InsertRow> {
	const volumes = reservation?.volumes ?? [];
	const [volumeChainIds, volumeTokens, volumeDirections] = pairColumns(volumes);
	const { rows } = await db.query<InsertRow>({
		name: "insert-swap",
		...namedParameters(
			`with share as (
				select floor(balance * $shareOfInventory::numeric) as amount from inventory
				where chain_id = $reservedChainId and token = $reservedToken
			), unopened as (
				select coalesce(sum(value_usd_cents), 0) as usd_cents,
					coalesce(sum(amount) filter (where chain_id = $reservedChainId and token = $reservedToken), 0) as amount
				from reservations where account_id = $accountId and not opened
			), room as (
				-- What is more than the share by itself waits for inventory, not for the account's other swaps.
				select $isOpened::boolean
					or ($unopenedUsdCents::bigint is null or usd_cents + $valueUsdCents <= $unopenedUsdCents)
					and (unopened.amount + $reservedAmount <= share.amount or $reservedAmount > share.amount) is not false as has_room
				from unopened left join share on true
			), taken as (
				update inventory set reserved = reserved + $reservedAmount
				from room
				where chain_id = $reservedChainId and token = $reservedToken
					and least(balance, outflow_available) - reserved >= $reservedAmount and has_room
					and ($holdingLimit::numeric is null or $holdingLimit >= $sold::numeric + coalesce((
						select balance from inventory
						where chain_id = $holdingChainId::bigint and token = $holdingToken::bytea
					), 0))
					and ($isOpened or $reservedAmount <= floor(balance * $shareOfInventory))
				returning 1
			), created as (
				insert into swaps
					(id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op, fee_millibps, fee_centibps, skew_centibps, trace, turn,
					giving_up, network_cost)
				select $swapId, $accountId, $orderId, $orderTerms, $output, $valueUsdCents, $delivery, $op,
					$feeMillibps::integer, ceil($feeMillibps / 10.0), $skewCentibps, $trace, $turn,
					case when not exists (select from taken) then $withoutReservation end, $networkCost::jsonb
				where $isOpened or exists (select from taken)
				on conflict do nothing
				returning ${swapColumns}
			), submitted as (
				insert into swap_events (swap_id, fact) select id, 'submitted' from created
			), reserved as (
				insert into reservations
					(swap_id, account_id, chain_id, token, amount, top_up, value_usd_cents, volumes, opened, lapses_at)
				select id, account_id, $reservedChainId, $reservedToken, $reservedAmount, $topUp, value_usd_cents, $volumes,
					$isOpened, $lapsesAt
				from created, taken
			), in_flight as (
				update pair_volume as pair set in_flight = pair.in_flight + volume.amount
				from created, taken, unnest(
					$volumeChainIds::bigint[], $volumeTokens::bytea[], $volumeDirections::text[], $volumeAmounts::numeric[]
				) as volume (chain_id, token, direction, amount)
				where (pair.chain_id, pair.token, pair.direction) = (volume.chain_id, volume.token, volume.direction)
			)
			select has_room, exists (select from taken) as is_reserved,
				exists (select from share where $reservedAmount > amount) as is_over_share, ${swapColumnNames}
			from room left join created on true`,
			{
				swapId: swap.id,
				isOpened,
				unopenedUsdCents: limits.unopenedUsdCents ?? null,
				accountId: swap.accountId,
				orderId: hexToBytes(orderId(swap.order)),
				orderTerms: orderToJson(swap.order),
				valueUsdCents: swap.valueUsdCents,
				output: swap.output,
				delivery: deliveryToJson(reservation?.delivery ?? swap.delivery),
				op: signedOpToJson(swap.op),
				reservedChainId: reservation?.chainId,
				reservedToken: reservation && hexToBytes(reservation.token),
				reservedAmount: reservation?.amount,
				withoutReservation,
				volumes: JSON.stringify(volumes.map((volume) => ({ ...volume, amount: String(volume.amount) }))),
				lapsesAt: new Date(nowMs() + limits.reservationSeconds * 1000),
				volumeChainIds,
				volumeTokens,
				volumeDirections,
				volumeAmounts: volumes.map((volume) => volume.amount),
				holdingLimit: holdingLimit?.amount,
				feeMillibps: swap.feeMillibps,
				skewCentibps: swap.skewCentibps ?? 0,
				trace: swap.trace,
				turn,
				shareOfInventory: limits.shareOfInventory,
				sold,
				holdingChainId: holdingLimit?.chainId,
				holdingToken: holdingLimit && hexToBytes(holdingLimit.token),
				networkCost: swap.networkCost && JSON.stringify(networkCostToJson(swap.networkCost)),
				topUp: swap.order.topUp,
			},
		),
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has a row");
	return row;
}
