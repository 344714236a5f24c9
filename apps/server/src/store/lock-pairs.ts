import { type Address, hexToBytes } from "viem";
import type { Database } from "./database.ts";

/** A ladder on which volume can be in flight. */
export type Pair = { chainId: number; token: Address; direction: "sell" | "buy" };

/**
 * What is in flight on the ladders, which stays so until the transaction ends. Where a way leads over two, the busier
 * one counts.
 */
export async function lockPairs(
	db: Database,
	pairs: readonly Pair[],
): Promise<{ sell: bigint; buy: bigint }> {
	const inFlight = { sell: 0n, buy: 0n };
	if (pairs.length === 0) return inFlight;
	const { rows } = await db.query<{ direction: "sell" | "buy"; in_flight: bigint }>({
		name: "lock-pairs",
		text: `insert into pair_volume (chain_id, token, direction)
			select chain_id, token, direction
			from unnest($1::bigint[], $2::bytea[], $3::text[]) as pair (chain_id, token, direction)
			order by chain_id, token, direction
			on conflict (chain_id, token, direction) do update set in_flight = pair_volume.in_flight
			returning direction, in_flight`,
		values: pairColumns(pairs),
	});
	for (const { direction, in_flight } of rows) {
		if (in_flight > inFlight[direction]) inFlight[direction] = in_flight;
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
