import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";

/** Reads the lamports that we put into these markers, by address. */
export async function readMarkerLamports(
	db: Database,
	{ chainId, addresses }: { chainId: number; addresses: readonly Hex[] },
): Promise<Map<Hex, bigint>> {
	if (addresses.length === 0) return new Map();
	const { rows } = await db.query<Row<"markers", "address" | "lamports">>(
		"select address, lamports from markers where chain_id = $1 and address = any($2)",
		[chainId, addresses.map((address) => hexToBytes(address))],
	);
	return new Map(rows.map(({ address, lamports }) => [bytesToHex(address), lamports]));
}
