import type { Heartbeat } from "@geoswap/protocol";
import { type Address, hexToBytes } from "viem";
import type { Database } from "./database.ts";

/** Remembers the newest sign of life of each attester on each chain. */
export async function storeHeartbeat(
	db: Database,
	{ attester, chainId, finalizedNumber, signedAtUnixSeconds }: Heartbeat & { attester: Address },
): Promise<void> {
	await db.query(
		`insert into heartbeats (attester, chain_id, finalized_number, signed_at)
		values ($1, $2, $3, to_timestamp($4))
		on conflict (attester, chain_id) do update
		set finalized_number = excluded.finalized_number, signed_at = excluded.signed_at
		where heartbeats.signed_at < excluded.signed_at`,
		[hexToBytes(attester), chainId, finalizedNumber, signedAtUnixSeconds],
	);
}

export type AttestersWanted = {
	attesters: readonly Address[];
	/** The chains that they must see. */
	chainIds: readonly number[];
	/** How old a heartbeat may be. */
	heartbeatSeconds: number;
	/** How far behind ours what they see as final may be. */
	sightSeconds: number;
};

/** How many of the attesters were heard of lately and see every one of the chains about as far as we do. */
export async function countAttestersAlive(
	db: Database,
	{
		attesters,
		chainIds,
		heartbeatSeconds,
		sightSeconds,
		nowMs,
	}: AttestersWanted & {
		nowMs: number;
	},
): Promise<number> {
	const { rows } = await db.query<{ alive: number }>({
		name: "count-attesters-alive",
		// How long a block takes is told by those that are not final yet.
		text: `select count(*) as alive from (
			select from heartbeats b join chain_heads h using (chain_id)
			where b.attester = any($1) and chain_id = any($2) and b.signed_at > to_timestamp($3::double precision)
				and (h.finalized_number - b.finalized_number) * (h.timestamp - h.finalized_timestamp + 1)
					<= $4 * (h.number - h.finalized_number + 1)
			group by b.attester having count(*) = $5
		) as attester`,
		values: [
			attesters.map((attester) => hexToBytes(attester)),
			chainIds,
			nowMs / 1_000 - heartbeatSeconds,
			sightSeconds,
			new Set(chainIds).size,
		],
	});
	return rows[0]?.alive ?? 0;
}
