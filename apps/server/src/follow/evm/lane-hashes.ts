import { bytesToHex, type Hash, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";

/** Returns the hashes that are transactions of our lanes. */
export async function laneHashesAmong(
	db: Database,
	{ chainId, hashes }: { chainId: number; hashes: readonly Hash[] },
): Promise<Hash[]> {
	if (hashes.length === 0) return [];
	const { rows } = await db.query<{ hash: Buffer }>(
		"select hash from lane_transactions where chain_id = $1 and hash = any($2)",
		[chainId, hashes.map((hash) => hexToBytes(hash))],
	);
	return rows.map((row) => bytesToHex(row.hash));
}
