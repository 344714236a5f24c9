import type { Amount } from "@geoswap/protocol";
import { type Address, hexToBytes } from "viem";
import type { Database, Part } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { Pair } from "../../swap/facts/reservation.ts";

/** The vault's balance of a token, at one block. */
export type InventoryBalance = {
	token: Address;
	balance: bigint;
	/** The maximum that may leave the vault now, under its hourly cap for the token. */
	outflowAvailable: Amount;
};

/**
 * Writes the vault's balances. Leaves the column `reserved` as it is, because it counts what is promised to swaps, and
 * submits and rounds write it. Block numbers are not compared, because after a reorg the newer reading can have the
 * lower one. The caller has locked the chain's head and moved it on, so readings are written in the order of the
 * chain's heads. A Solana endpoint may still answer from a node that is behind; lanes read the vault again before they
 * pay.
 */
export async function saveInventory(
	db: Database,
	{
		chainId,
		blockNumber,
		inventory,
	}: { chainId: number; blockNumber: number; inventory: readonly InventoryBalance[] },
): Promise<void> {
	await db.query(
		`insert into inventory (chain_id, block_number, token, balance, outflow_available)
		select $1, $2, * from unnest($3::bytea[], $4::numeric[], $5::numeric[])
			as held (token, balance, outflow_available) order by token
		on conflict (chain_id, token) do update set block_number = excluded.block_number,
			balance = excluded.balance, outflow_available = excluded.outflow_available`,
		[
			chainId,
			blockNumber,
			inventory.map(({ token }) => hexToBytes(token)),
			inventory.map(({ balance }) => balance),
			inventory.map(({ outflowAvailable }) => outflowAvailable),
		],
	);
}

/** The volume in flight. If a route leads over two ladders, the busier one counts. */
export type InFlight = { sell: bigint; buy: bigint };

export type VolumeRow = Row<"pair_volume", "direction"> & { in_flight: string };

/** Returns the statement that locks ladders and returns their volumes, as rows for `inFlightOf`. */
export function lockedPairs(pairs: readonly Pair[]): Part {
	return {
		text: `insert into pair_volume (chain_id, token, direction)
			select chain_id, token, direction
			from unnest($1::bigint[], $2::bytea[], $3::text[]) as pair (chain_id, token, direction)
			order by chain_id, token, direction
			on conflict (chain_id, token, direction) do update set in_flight = pair_volume.in_flight
			returning direction, in_flight::text`,
		values: pairColumns(pairs),
	};
}

/** Returns the volume in flight on the ladders, and locks it until the transaction ends. */
export async function lockPairs(db: Database, pairs: readonly Pair[]): Promise<InFlight> {
	if (pairs.length === 0) return { sell: 0n, buy: 0n };
	const { rows } = await db.query<VolumeRow>({ name: "lock-pairs", ...lockedPairs(pairs) });
	return inFlightOf(rows);
}

export function inFlightOf(rows: readonly VolumeRow[]): InFlight {
	const inFlight = { sell: 0n, buy: 0n };
	for (const { direction, in_flight } of rows) {
		const amount = BigInt(in_flight);
		if (amount > inFlight[direction]) inFlight[direction] = amount;
	}
	return inFlight;
}

export function pairColumns(pairs: readonly Pair[]): [number[], Uint8Array[], string[]] {
	return [
		pairs.map((pair) => pair.chainId),
		pairs.map((pair) => Buffer.from(hexToBytes(pair.token))),
		pairs.map((pair) => pair.direction),
	];
}
