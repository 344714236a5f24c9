import { hexToBytes } from "viem";
import type { Database, Part } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { Pair } from "../../swap/facts/reservation.ts";

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
