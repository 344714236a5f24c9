import { type FailureCode, type Order, orderId, orderToJson, type SwapUuid } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "./database.ts";
import { type AttestersWanted, countAttestersAlive } from "./heartbeats.ts";
import { lockPairs, type Pair, pairColumns } from "./lock-pairs.ts";
import { readSwap, type SwapRow, swapFromRow } from "./read-swap.ts";
import { deliveryToJson, signedOpToJson } from "./swap-json.ts";
import type { Delivery, SignedOp, SignedSolanaOp, SwapRecord } from "./swap-record.ts";

export type NewSwap = {
	id: SwapUuid;
	accountId: string;
	order: Order;
	/** As quoted. */
	output: bigint;
	valueUsdCents: bigint;
	feeCentibps: number;
	delivery: Delivery;
	op: SignedOp | SignedSolanaOp;
	/** The trace that its submit began (a W3C traceparent), where it is traced. */
	trace?: string | undefined;
};

/** What is taken for a swap: of the vault's stock, and of the ladders. */
export type Reservation = {
	delivery: Delivery;
	chainId: number;
	token: Hex;
	amount: bigint;
	volumes: (Pair & { amount: bigint })[];
};

export type SubmitOutcome =
	| { outcome: "created" | "existing"; swap: SwapRecord }
	/**
	 * The price fell below the order's minimum; there is too little stock, or too much of the input; the account has too
	 * much unopened; too few of the attesters that would decide the order are alive; it took until it had expired.
	 */
	| { outcome: "price" | "stock" | "unopened" | "attesters" | "expired" };

/** The most of a token that the vault takes in. */
export type ExposureLimit = { chainId: number; token: Hex; amount: bigint };

/**
 * Reserves what the swap needs and inserts it, or does nothing. A swap that exists is returned, whatever else would
 * have been answered. One whose order is open on chain is inserted even where nothing can be reserved: it will be
 * refunded.
 *
 * Locks are taken in one order everywhere: account, ladders by (chain, token, direction), stock, swap.
 */
export async function submitSwap(
	pool: DatabasePool,
	submission: {
		swap: NewSwap;
		/** The ladders that the swap puts volume on. */
		pairs: readonly Pair[];
		/** The swap's price with this much of others in flight; undefined where it is below the minimum. */
		reserve: (inFlight: { sell: bigint; buy: bigint }) => Reservation | undefined;
		isOpened: boolean;
		/** Asked once nobody else can write for the account: what is called expired by then is not made any more. */
		isInTime: () => boolean;
		limits: { unopenedUsdCents: bigint; reservationSeconds: number };
		/** Where its input is limited. */
		exposure?: ExposureLimit | undefined;
		/** Where attesters decide it. */
		attesters?: (AttestersWanted & { threshold: number }) | undefined;
		nowMs: number;
	},
): Promise<SubmitOutcome> {
	const { swap, isOpened, exposure, attesters, nowMs } = submission;
	try {
		return await inTransaction(pool, async (db): Promise<SubmitOutcome> => {
			await lockAccount(db, swap);
			if (!submission.isInTime()) throw new NothingWritten("expired");
			if (
				attesters &&
				!isOpened &&
				(await countAttestersAlive(db, { ...attesters, nowMs })) < attesters.threshold
			) {
				throw new NothingWritten("attesters");
			}
			const inFlight = await lockPairs(db, submission.pairs);
			const reservation = submission.reserve(inFlight);
			if (!reservation && !isOpened) throw new NothingWritten("price");
			const sold = inFlight.sell + swap.order.inputAmount;
			const isTakenIn = !exposure || (await readBalance(db, exposure)) + sold <= exposure.amount;
			const { has_room, is_reserved, ...row } = await insertSwap(db, {
				...submission,
				reservation,
				isTakenIn,
			});
			if (row.id !== null) return { outcome: "created", swap: swapFromRow(row as SwapRow) };
			if (is_reserved || isOpened) throw new NothingWritten("existing");
			throw new NothingWritten(has_room ? "stock" : "unopened");
		});
	} catch (error) {
		if (!(error instanceof NothingWritten)) throw error;
		// Whoever was first may have taken the last of the stock for this very swap.
		const existing = await readSwap(pool, swap.id);
		if (existing) return { outcome: "existing", swap: existing };
		if (error.why === "existing") throw error;
		return { outcome: error.why };
	}
}

/** Takes back what the transaction did so far. */
class NothingWritten extends Error {
	override name = "NothingWritten";
	readonly why: "existing" | "price" | "stock" | "unopened" | "attesters" | "expired";

	constructor(why: NothingWritten["why"]) {
		super(`the swap was not inserted: ${why}`);
		this.why = why;
	}
}

/** Until whoever was writing a swap of the account when this was asked has done so, or has not. */
export async function waitForSubmits(db: Database, accountId: string): Promise<void> {
	await db.query({
		name: "wait-for-submits",
		text: "select pg_advisory_xact_lock(hashtextextended('account:' || $1, 0))",
		values: [accountId],
	});
}

/** The sum of what an account has unopened is read later: it must not grow in between. */
async function lockAccount(db: Database, { accountId, id }: NewSwap): Promise<void> {
	const { rows } = await db.query({
		name: "lock-account",
		text: `select exists (select from swaps where id = $2) as is_known,
			pg_advisory_xact_lock(hashtextextended('account:' || $1, 0))`,
		values: [accountId, id],
	});
	if (rows[0]?.is_known) throw new NothingWritten("existing");
}

async function readBalance(db: Database, { chainId, token }: ExposureLimit): Promise<bigint> {
	const { rows } = await db.query<{ balance: bigint }>({
		name: "read-balance",
		text: "select balance from stock where chain_id = $1 and token = $2",
		values: [chainId, hexToBytes(token)],
	});
	return rows[0]?.balance ?? 0n;
}

type InsertRow = { has_room: boolean; is_reserved: boolean } & (SwapRow | { id: null });

/** One statement: the row of the stock, which all swaps to that token want, is held no longer than it must be. */
async function insertSwap(
	db: Database,
	{
		swap,
		reservation,
		isTakenIn,
		isOpened,
		limits,
		nowMs,
	}: {
		swap: NewSwap;
		reservation: Reservation | undefined;
		isTakenIn: boolean;
		isOpened: boolean;
		limits: { unopenedUsdCents: bigint; reservationSeconds: number };
		nowMs: number;
	},
): Promise<InsertRow> {
	const volumes = reservation?.volumes ?? [];
	const withoutReservation: FailureCode = reservation ? "NO_LIQUIDITY" : "PRICE_MOVED";
	const { rows } = await db.query<InsertRow>({
		name: "insert-swap",
		text: `with room as (
				select $2::boolean or coalesce(sum(value_usd_cents), 0) + $7 <= $3 as has_room
				from reservations where account_id = $4 and not opened
			), taken as (
				update stock set reserved = reserved + $13
				from room
				where chain_id = $11 and token = $12 and least(balance, outflow_available) - reserved >= $13 and has_room
					and $21::boolean
				returning 1
			), created as (
				insert into swaps
					(id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op, fee_centibps, trace, giving_up)
				select $1, $4, $5, $6, $8, $7, $9, $10, $22, $23, case when not exists (select from taken) then $14 end
				where $2 or exists (select from taken)
				on conflict do nothing
				returning *
			), submitted as (
				insert into swap_events (swap_id, fact) select id, 'submitted' from created
			), reserved as (
				insert into reservations
					(swap_id, account_id, chain_id, token, amount, value_usd_cents, volumes, opened, lapses_at)
				select id, account_id, $11, $12, $13, value_usd_cents, $15, $2, $16 from created, taken
			), in_flight as (
				update pair_volume as pair set in_flight = pair.in_flight + volume.amount
				from created, taken, unnest($17::bigint[], $18::bytea[], $19::text[], $20::numeric[])
					as volume (chain_id, token, direction, amount)
				where (pair.chain_id, pair.token, pair.direction) = (volume.chain_id, volume.token, volume.direction)
			)
			select has_room, exists (select from taken) as is_reserved, created.* from room left join created on true`,
		values: [
			swap.id,
			isOpened,
			limits.unopenedUsdCents,
			swap.accountId,
			hexToBytes(orderId(swap.order)),
			orderToJson(swap.order),
			swap.valueUsdCents,
			swap.output,
			deliveryToJson(reservation?.delivery ?? swap.delivery),
			signedOpToJson(swap.op),
			reservation?.chainId,
			reservation && hexToBytes(reservation.token),
			reservation?.amount,
			withoutReservation,
			JSON.stringify(volumes.map((volume) => ({ ...volume, amount: String(volume.amount) }))),
			new Date(nowMs + limits.reservationSeconds * 1000),
			...pairColumns(volumes),
			volumes.map((volume) => volume.amount),
			isTakenIn,
			swap.feeCentibps,
			swap.trace,
		],
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has a row");
	return row;
}
