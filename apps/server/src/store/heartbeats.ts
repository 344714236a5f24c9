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
