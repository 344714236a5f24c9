import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";

/**
 * Adds accounts that pay for the service's transactions on a chain. They stay listed when they are no longer configured,
 * because the ledger goes on to compare what they hold.
 */
export async function addRelayers(
	db: Database,
	{ chainId, relayers }: { chainId: number; relayers: readonly Hex[] },
): Promise<void> {
	await db.query(
		"insert into relayers (chain_id, address) select $1, unnest($2::bytea[]) on conflict do nothing",
		[chainId, relayers.map((address) => hexToBytes(address))],
	);
}

/** Returns all current and former relayers of a chain: addresses on an EVM chain, 32 bytes each on Solana. */
export async function readRelayers(db: Database, chainId: number): Promise<Hex[]> {
	const { rows } = await db.query<Row<"relayers", "address">>(
		"select address from relayers where chain_id = $1 order by address",
		[chainId],
	);
	return rows.map(({ address }) => bytesToHex(address));
}
