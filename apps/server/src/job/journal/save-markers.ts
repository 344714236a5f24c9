import type { Database } from "../../database/database.ts";

/** Stores the markers that were made, and closed, in slots that became final. Known ones stay as they are. */
export async function saveMarkers(
	db: Database,
	{ chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<void> {
	// The markers' age is by the database's clock: a marker that seems old is closed, and then guards nothing.
	await db.query(
		`insert into markers (chain_id, address, order_id, base, owner, lamports, made_at)
		select chain_id, ${address}, order_id, data->>'base', data->>'owner', (data->>'lamports')::numeric, now()
		from chain_events
		where chain_id = $1 and block_number > $2 and block_number <= $3 and name = 'MarkerMade'
		on conflict do nothing`,
		[chainId, after, upTo],
	);
	await db.query(
		`update markers set closed_at = now() where chain_id = $1 and closed_at is null and address in (
			select ${address} from chain_events
			where chain_id = $1 and block_number > $2 and block_number <= $3 and name = 'MarkerClosed'
		)`,
		[chainId, after, upTo],
	);
}

const address = "decode(substr(data->>'address', 3), 'hex')";
