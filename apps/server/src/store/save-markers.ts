import { bytesToHex, type Hex } from "viem";
import type { Database } from "./database.ts";
import { insertMarkers, type Marker, markMarkersClosed } from "./markers.ts";

/** Writes down the markers that were made, and closed, in slots that became final. */
export async function saveMarkers(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<void> {
	// Their age is by the database's clock: a marker that seems old is closed, and guards nothing then.
	const { rows } = await db.query<MarkerEventRow & { at: Date }>(
		`select name, order_id, data, now() as at from chain_events
		where chain_id = $1 and block_number > $2 and block_number <= $3 and name in ('MarkerMade', 'MarkerClosed')`,
		[chainId, after, upTo],
	);
	await insertMarkers(db, {
		chainId,
		markers: rows.flatMap((row) =>
			row.name === "MarkerMade"
				? [
						{
							address: row.data.address,
							orderId: bytesToHex(row.order_id),
							base: row.data.base,
							owner: row.data.owner,
							lamports: BigInt(row.data.lamports),
							madeAt: row.at,
						},
					]
				: [],
		),
	});
	const closed = rows.filter((row) => row.name === "MarkerClosed");
	const closedAt = closed[0]?.at;
	if (!closedAt) return;
	await markMarkersClosed(db, { chainId, addresses: closed.map(({ data }) => data.address), closedAt });
}

type MarkerEventRow =
	| {
			name: "MarkerMade";
			order_id: Buffer;
			data: Pick<Marker, "address" | "base" | "owner"> & { lamports: string };
	  }
	| { name: "MarkerClosed"; order_id: null; data: { address: Hex } };
