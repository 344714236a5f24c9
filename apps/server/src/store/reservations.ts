import type { SwapUuid } from "@geoswap/protocol";
import { type Address, type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";

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
 * Reserves for a swap whose reservation lapsed before its order was opened. Says whether there is enough. The price
 * was fixed at submit, so no volume counts on the ladders any more.
 */
export async function reserveAgain(
	db: Database,
	{
		swapId,
		accountId,
		chainId,
		token,
		amount,
		valueUsdCents,
	}: {
		swapId: SwapUuid;
		accountId: string | undefined;
		chainId: number;
		token: Address;
		amount: bigint;
		valueUsdCents: bigint;
	},
): Promise<boolean> {
	const { rowCount: isThere } = await db.query("select from reservations where swap_id = $1", [swapId]);
	if (isThere) return true;
	const { rowCount } = await db.query(
		`update stock set reserved = reserved + $3
		where chain_id = $1 and token = $2 and least(balance, outflow_available) - reserved >= $3`,
		[chainId, hexToBytes(token), amount],
	);
	if (!rowCount) return false;
	await db.query(
		`insert into reservations
			(swap_id, account_id, chain_id, token, amount, value_usd_cents, volumes, opened, lapses_at)
		values ($1, $2, $3, $4, $5, $6, '[]', true, now())`,
		[swapId, accountId ?? null, chainId, hexToBytes(token), amount, valueUsdCents],
	);
	return true;
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
