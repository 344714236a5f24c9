import { bytesToHex, type Hex } from "viem";
import type { ContractEvent } from "../../chain/evm/read/decode-events.ts";
import type { Database } from "../../database/database.ts";

type Claim = Extract<ContractEvent, { name: "Claimed" }>["data"];

/**
 * The number of credits that are read for each claim. Anyone can cause credits and claims, and each swap that is found
 * costs part of a round. A wallet rarely has more. Its other swaps are due within ten minutes.
 */
const creditsPerClaim = 10;

/**
 * Returns orders of unfinished swaps whose refunds became credits that these claims may have paid out. A claim names
 * only its beneficiary and its token. Must be called after the events are written.
 */
export async function readClaimedOrders(
	db: Database,
	{ chainId, events }: { chainId: number; events: readonly { name: string; data: object }[] },
): Promise<Hex[]> {
	const claims = events.flatMap(({ name, data }) => (name === "Claimed" ? (data as Claim) : []));
	if (claims.length === 0) return [];
	const { rows } = await db.query<{ order_id: Buffer }>({
		name: "read-claimed-orders",
		text: `select distinct waits.order_id
			from unnest($2::text[], $3::text[]) as claimed (beneficiary, token) cross join lateral (
				select order_id, data->>'token' as token from chain_events
				where chain_id = $1 and name = 'Credited' and data->>'beneficiary' = claimed.beneficiary
				order by block_number desc limit ${creditsPerClaim}
			) credited join waits using (order_id)
			where credited.token = claimed.token`,
		values: [chainId, claims.map(({ beneficiary }) => beneficiary), claims.map(({ token }) => token)],
	});
	return rows.map((row) => bytesToHex(row.order_id));
}
