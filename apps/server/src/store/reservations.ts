import type { SwapUuid } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";
import { lockPairs, type Pair, pairColumns } from "./lock-pairs.ts";
import type { Reservation } from "./submit-swap.ts";
import { deliveryToJson } from "./swap-json.ts";
import type { SwapRecord } from "./swap-record.ts";

/** Gives back what was reserved for a swap. Does nothing where nothing is. */
export async function unreserve(db: Database, swapId: SwapUuid): Promise<void> {
	const { rows } = await db.query<ReservationRow>(
		"delete from reservations where swap_id = $1 returning chain_id, token, amount, volumes",
		[swapId],
	);
	const [reservation] = rows;
	if (!reservation) return;
	// The same order of locks for everyone: volumes by name, then stock.
	const volumes = reservation.volumes.toSorted((a, b) => (volumeKey(a) < volumeKey(b) ? -1 : 1));
	for (const { chainId, token, direction, amount } of volumes) {
		await db.query(
			`update pair_volume set in_flight = in_flight - $4
			where chain_id = $1 and token = $2 and direction = $3`,
			[chainId, hexToBytes(token), direction, amount],
		);
	}
	await db.query("update stock set reserved = reserved - $3 where chain_id = $1 and token = $2", [
		reservation.chain_id,
		reservation.token,
		reservation.amount,
	]);
}

/**
 * Reserves for a swap whose reservation lapsed before its order was opened, at the price of now. Says what there is too
 * little of, if anything.
 */
export async function reserveAgain(
	db: Database,
	{
		swap: { id, accountId, valueUsdCents },
		pairs,
		reserve,
	}: {
		swap: SwapRecord;
		/** The ladders that the swap puts volume on. */
		pairs: readonly Pair[];
		/** The swap's price with this much of others in flight; undefined where it is below the minimum. */
		reserve: (inFlight: { sell: bigint; buy: bigint }) => Reservation | undefined;
	},
): Promise<"reserved" | "price" | "stock"> {
	const { rowCount: isThere } = await db.query("select from reservations where swap_id = $1", [id]);
	if (isThere) return "reserved";
	const reservation = reserve(await lockPairs(db, pairs));
	if (!reservation) return "price";
	const { delivery, chainId, token, amount, volumes } = reservation;
	const { rowCount: isTaken } = await db.query(
		`update stock set reserved = reserved + $3
		where chain_id = $1 and token = $2 and least(balance, outflow_available) - reserved >= $3`,
		[chainId, hexToBytes(token), amount],
	);
	if (!isTaken) return "stock";
	await db.query(
		`update pair_volume as pair set in_flight = pair.in_flight + volume.amount
		from unnest($1::bigint[], $2::bytea[], $3::text[], $4::numeric[]) as volume (chain_id, token, direction, amount)
		where (pair.chain_id, pair.token, pair.direction) = (volume.chain_id, volume.token, volume.direction)`,
		[...pairColumns(volumes), volumes.map((volume) => volume.amount)],
	);
	await db.query(
		`insert into reservations
			(swap_id, account_id, chain_id, token, amount, value_usd_cents, volumes, opened, lapses_at)
		values ($1, $2, $3, $4, $5, $6, $7, true, now())`,
		[
			id,
			accountId ?? null,
			chainId,
			hexToBytes(token),
			amount,
			valueUsdCents,
			JSON.stringify(volumes.map((volume) => ({ ...volume, amount: String(volume.amount) }))),
		],
	);
	await db.query("update swaps set delivery = $2, updated_at = now() where id = $1", [
		id,
		deliveryToJson(delivery),
	]);
	return "reserved";
}

/** The order is open: it does not count against its account's unopened value any more. */
export async function markReservationOpened(db: Database, swapId: SwapUuid): Promise<void> {
	await db.query("update reservations set opened = true where swap_id = $1 and not opened", [swapId]);
}

type ReservedVolume = { chainId: number; token: Hex; direction: "sell" | "buy"; amount: string };
type ReservationRow = { chain_id: number; token: Buffer; amount: bigint; volumes: ReservedVolume[] };

function volumeKey({ chainId, token, direction }: ReservedVolume): string {
	return `${String(chainId).padStart(16, "0")}:${token.toLowerCase()}:${direction}`;
}
