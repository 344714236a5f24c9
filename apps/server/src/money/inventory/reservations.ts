import { type Amount, nativeTokenOf, type SwapUuid } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import type { Pair, Reservation } from "../../swap/facts/reservation.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { deliveryToJson } from "../../swap/record/swap-json.ts";
import { lockPairs, pairColumns } from "./inventory-balance.ts";

/** Gives back what was reserved for swaps, first on the ladders, then of the inventory, each in one order. */
export async function unreserveAll(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	const { rows } = await db.query<ReservationRow>({
		name: "delete-reservations",
		text: `delete from reservations where swap_id = any($1::uuid[]) returning chain_id, token, amount, top_up, volumes`,
		values: [swapIds],
	});
	const volumes = summed(
		rows.flatMap((row) =>
			row.volumes.map(({ chainId, token, direction, amount }) => ({
				key: `${chainId}:${token.toLowerCase()}:${direction}`,
				of: { chainId, token: Buffer.from(hexToBytes(token)), direction },
				amount: BigInt(amount),
			})),
		),
	);
	if (volumes.length > 0) {
		await db.query({
			name: "lower-volumes",
			text: `with held as materialized (
					select chain_id, token, direction from pair_volume
					where (chain_id, token, direction) in (
						select c, t, d from unnest($1::bigint[], $2::bytea[], $3::text[]) as x (c, t, d)
					)
					order by chain_id, token, direction for update
				)
				update pair_volume p set in_flight = p.in_flight - x.amount
				from held join unnest($1::bigint[], $2::bytea[], $3::text[], $4::numeric[])
					as x (chain_id, token, direction, amount) using (chain_id, token, direction)
				where (p.chain_id, p.token, p.direction) = (held.chain_id, held.token, held.direction)`,
			values: [
				volumes.map(({ of }) => of.chainId),
				volumes.map(({ of }) => of.token),
				volumes.map(({ of }) => of.direction),
				volumes.map(({ amount }) => amount),
			],
		});
	}
	const inventory = summed(
		rows.flatMap(({ chain_id, token, amount, top_up }) =>
			[{ token, amount }, ...(top_up > 0n ? [{ token: nativeBytes(chain_id), amount: top_up }] : [])].map(
				(held) => ({
					key: `${chain_id}:${held.token.toString("hex")}`,
					of: { chainId: chain_id, token: held.token },
					amount: held.amount,
				}),
			),
		),
	);
	if (inventory.length === 0) return;
	await db.query({
		name: "lower-reserved",
		text: `with held as materialized (
				select chain_id, token from inventory
				where (chain_id, token) in (select c, t from unnest($1::bigint[], $2::bytea[]) as x (c, t))
				order by chain_id, token for update
			)
			update inventory s set reserved = s.reserved - x.amount
			from held join unnest($1::bigint[], $2::bytea[], $3::numeric[]) as x (chain_id, token, amount)
				using (chain_id, token)
			where (s.chain_id, s.token) = (held.chain_id, held.token)`,
		values: [
			inventory.map(({ of }) => of.chainId),
			inventory.map(({ of }) => of.token),
			inventory.map(({ amount }) => amount),
		],
	});
}

/** Adds up the amounts of each key, because an update would apply only one of two rows with the same key. */
function summed<Of>(
	amounts: readonly { key: string; of: Of; amount: Amount }[],
): { of: Of; amount: Amount }[] {
	const sums = new Map<string, { of: Of; amount: Amount }>();
	for (const { key, of, amount } of amounts) {
		sums.set(key, { of, amount: (sums.get(key)?.amount ?? 0n) + amount });
	}
	return [...sums.values()];
}

/** Marks the orders as open, so that they no longer count against their accounts' unopened value. */
export async function markReservationsOpened(db: Database, swapIds: readonly SwapUuid[]): Promise<void> {
	if (swapIds.length === 0) return;
	await db.query({
		name: "mark-reservations-opened",
		text: "update reservations set opened = true where swap_id = any($1::uuid[]) and not opened",
		values: [swapIds],
	});
}

/**
 * Reserves, at the current price, for a swap whose reservation lapsed before its order was opened. Returns what there
 * is too little of, if anything.
 */
export async function reserveAgain(
	db: Database,
	{
		swap: { id, accountId, valueUsdCents, order },
		pairs,
		reserve,
	}: {
		swap: SwapRecord;
		/** The ladders that the swap puts volume on. */
		pairs: readonly Pair[];
		/** Prices the swap with this much of others in flight; returns undefined if that is below the minimum. */
		reserve: (inFlight: { sell: bigint; buy: bigint }) => Reservation | undefined;
	},
): Promise<"reserved" | "price" | "inventory"> {
	const { rowCount: isThere } = await db.query("select from reservations where swap_id = $1", [id]);
	if (isThere) return "reserved";
	const reservation = reserve(await lockPairs(db, pairs));
	if (!reservation) return "price";
	const { delivery, chainId, token, amount, volumes } = reservation;
	const { topUp } = order;
	if (topUp > 0n && !(await takeInventory(db, { chainId, token: nativeTokenOf(chainId), amount: topUp })))
		return "inventory";
	if (!(await takeInventory(db, { chainId, token, amount }))) {
		if (topUp > 0n) await giveBack(db, { chainId, token: nativeTokenOf(chainId), amount: topUp });
		return "inventory";
	}
	await db.query(
		`update pair_volume as pair set in_flight = pair.in_flight + volume.amount
		from unnest($1::bigint[], $2::bytea[], $3::text[], $4::numeric[]) as volume (chain_id, token, direction, amount)
		where (pair.chain_id, pair.token, pair.direction) = (volume.chain_id, volume.token, volume.direction)`,
		[...pairColumns(volumes), volumes.map((volume) => volume.amount)],
	);
	await db.query(
		namedParameters(
			`insert into reservations
				(swap_id, account_id, chain_id, token, amount, value_usd_cents, volumes, opened, lapses_at)
			values ($swapId, $accountId, $chainId, $token, $amount, $valueUsdCents, $volumes, true, now())`,
			{
				swapId: id,
				accountId: accountId ?? null,
				chainId,
				token: hexToBytes(token),
				amount,
				valueUsdCents,
				volumes: JSON.stringify(volumes.map((volume) => ({ ...volume, amount: String(volume.amount) }))),
			},
		),
	);
	if (topUp > 0n) await db.query("update reservations set top_up = $2 where swap_id = $1", [id, topUp]);
	await db.query("update swaps set delivery = $2, updated_at = now() where id = $1", [
		id,
		deliveryToJson(delivery),
	]);
	return "reserved";
}

/**
 * Takes the native token for an order's top-up from the vault's inventory, if that leaves the account within its share.
 * Locks the row before that of the output, because rows of a chain's inventory are locked by token, and the native
 * token is the first.
 */
export async function takeTopUp(
	db: Database,
	{
		chainId,
		amount,
		accountId,
		shareOfInventory,
	}: { chainId: number; amount: Amount; accountId: string; shareOfInventory: number },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`update inventory set reserved = reserved + $3
		where chain_id = $1 and token = $2 and least(balance, outflow_available) - reserved >= $3
			and floor(balance * $5::numeric) >= $3 + (
				select coalesce(sum(top_up), 0) from reservations where account_id = $4 and chain_id = $1 and not opened
			)`,
		[chainId, nativeBytes(chainId), amount, accountId, shareOfInventory],
	);
	return rowCount === 1;
}

type Held = { chainId: number; token: Hex; amount: Amount };

async function takeInventory(db: Database, { chainId, token, amount }: Held): Promise<boolean> {
	const { rowCount } = await db.query(
		`update inventory set reserved = reserved + $3
		where chain_id = $1 and token = $2 and least(balance, outflow_available) - reserved >= $3`,
		[chainId, hexToBytes(token), amount],
	);
	return rowCount === 1;
}

/** Gives back what was taken from the inventory for a reservation that is not made. */
export async function giveBack(db: Database, { chainId, token, amount }: Held): Promise<void> {
	await db.query("update inventory set reserved = reserved - $3 where chain_id = $1 and token = $2", [
		chainId,
		hexToBytes(token),
		amount,
	]);
}

function nativeBytes(chainId: number): Buffer {
	return Buffer.from(hexToBytes(nativeTokenOf(chainId)));
}

type ReservedVolume = { chainId: number; token: Hex; direction: "sell" | "buy"; amount: string };
type ReservationRow = Row<"reservations", "chain_id" | "token" | "amount" | "top_up"> & {
	volumes: ReservedVolume[];
};
