import type { Heartbeat, Milliseconds } from "@geoswap/protocol";
import { type Address, hexToBytes } from "viem";
import type { Database, Part } from "../database/database.ts";
import type { AttestersWanted } from "../swap/facts/facts.ts";

/** Stores the newest heartbeat of each attester on each chain. */
export async function storeHeartbeats(
	db: Database,
	heartbeats: readonly (Heartbeat & { attester: Address })[],
): Promise<void> {
	if (heartbeats.length === 0) return;
	// An attester may be queried at two addresses, and answer at both.
	await db.query({
		name: "store-heartbeats",
		text: `insert into heartbeats (attester, chain_id, finalized_number, signed_at)
			select distinct on (attester, chain_id) attester, chain_id, finalized_number, to_timestamp(signed_at)
			from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[])
				as b (attester, chain_id, finalized_number, signed_at)
			order by attester, chain_id, signed_at desc
			on conflict (attester, chain_id) do update
			set finalized_number = excluded.finalized_number, signed_at = excluded.signed_at
			where heartbeats.signed_at < excluded.signed_at`,
		values: [
			heartbeats.map(({ attester }) => hexToBytes(attester)),
			heartbeats.map(({ chainId }) => chainId),
			heartbeats.map(({ finalizedNumber }) => finalizedNumber),
			heartbeats.map(({ signedAtUnixSeconds }) => signedAtUnixSeconds),
		],
	});
}

const aliveText = `select count(*) as alive from (
	select from heartbeats b join chain_heads h using (chain_id)
	where b.attester = any($1) and chain_id = any($2) and b.signed_at > to_timestamp($3::double precision)
		and (h.finalized_number - b.finalized_number) * (h.timestamp - h.finalized_timestamp + 1)
			<= $4 * (h.number - h.finalized_number + 1)
	group by b.attester having count(*) = $5
) as attester`;

/**
 * Returns a query for one row with the number of attesters that have recent heartbeats and have read every one of the
 * chains about as far as the follower. The blocks that are not final yet show how long a block takes.
 */
export function attestersAlive({
	attesters,
	chainIds,
	heartbeatSeconds,
	sightSeconds,
	nowMs,
}: AttestersWanted & { nowMs: Milliseconds }): Part {
	return {
		text: aliveText,
		values: [
			attesters.map((attester) => hexToBytes(attester)),
			chainIds,
			nowMs / 1_000 - heartbeatSeconds,
			sightSeconds,
			new Set(chainIds).size,
		],
	};
}
