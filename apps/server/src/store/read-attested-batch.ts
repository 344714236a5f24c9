import { type Order, orderSchema } from "@geoswap/protocol";
import { type Address, bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "./database.ts";
import type { JobKind } from "./job.ts";

export type AttestedBatch = {
	/** In the order in which they were signed for. */
	orders: Order[];
	attestation: { threshold: bigint; attesters: Address[]; signatures: Hex[] };
};

/** The whole list that attesters signed for, or undefined where an order of it is no longer known. */
export async function readAttestedBatch(
	db: Database,
	{ attestationId, kind }: { attestationId: string; kind: JobKind },
): Promise<AttestedBatch | undefined> {
	const { rows } = await db.query<AttestationRow>(
		"select threshold, attesters, signatures, order_ids from attestations where id = $1",
		[attestationId],
	);
	const [row] = rows;
	if (!row) return undefined;
	const { rows: orderRows } = await db.query<{ order_id: Uint8Array; order_terms: object }>(
		"select order_id, order_terms from jobs where kind = $1 and order_id = any($2)",
		[kind, row.order_ids.map((id) => hexToBytes(id))],
	);
	const byId = new Map(
		orderRows.map((found) => [bytesToHex(found.order_id), orderSchema.parse(found.order_terms)]),
	);
	const orders = row.order_ids.flatMap((id) => byId.get(id) ?? []);
	if (orders.length !== row.order_ids.length) return undefined;
	const { threshold, attesters, signatures } = row;
	return { orders, attestation: { threshold: BigInt(threshold), attesters, signatures } };
}

type AttestationRow = { threshold: number; attesters: Address[]; signatures: Hex[]; order_ids: Hex[] };
