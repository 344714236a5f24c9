import { moneyEventTopics, type SubjectsOf } from "@geoswap/protocol";
import { bytesToHex, type Hex, pad } from "viem";
import type { Database } from "../../database/database.ts";

/**
 * Returns the subjects of events that matter to swaps which have not ended: their orders, and the wallets that are owed
 * a credit. Only the operator can withdraw from a vault, so all withdrawals are read.
 */
export function knownSubjects(db: Database, chainId: number): SubjectsOf {
	const { Claimed, Withdrawn } = moneyEventTopics();
	return async (topic) => {
		if (topic === Withdrawn) return undefined;
		return topic === Claimed ? readCreditors(db, chainId) : readUndecidedOrders(db);
	};
}

async function readUndecidedOrders(db: Database): Promise<Hex[]> {
	const { rows } = await db.query<{ order_id: Buffer }>("select order_id from waits order by swap_id");
	return rows.map((row) => bytesToHex(row.order_id));
}

async function readCreditors(db: Database, chainId: number): Promise<Hex[]> {
	const { rows } = await db.query<{ beneficiary: Hex }>(
		`select distinct e.data->>'beneficiary' as beneficiary from chain_events e join waits using (order_id)
		where e.chain_id = $1 and e.name = 'Credited'`,
		[chainId],
	);
	return rows.map((row) => pad(row.beneficiary));
}
